import { formatDuration } from '../../base/durations.ts'
import { printable } from '../../base/text.ts'
import type { Summary, SyncEvent, Undone } from '../../client/sync/index.ts'
import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { interruptible } from '../interruption.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../time-format.ts'

export const undo = command({
  name: 'sync undo',
  summary: 'Undo the last run that changed something, locally and on the server',
  details:
    'What the run edited, deleted or moved returns on both sides to its state before the run. Of new files only the copy is removed: ' +
    'the original stays where it was made, and runs skip it until it changes. What has changed since the run is left as it is and listed, ' +
    'with exit code 3. Conflict copies stay, because both versions exist. Replaced local files go to .svc/trash, those on the ' +
    'server to its versions and trash. Nothing else is synchronised meanwhile.\n\n' +
    'Run it again to undo the undo. The next run of either kind completes an interrupted undo.',
  needs: 'server',
  args: { dir: { summary: 'synchronised folder', optional: true } },
  flags: { dryRun: flag.switch('show what would be done and why, and change nothing at all'), yes: flag.yes },
  examples: ['svc sync undo --dry-run', 'svc sync undo', 'svc sync undo ~/cloud --yes --json'],
  async run({ io, globals, api, account, args, flags }) {
    const { userFolder } = await import('../../host/user-folders.ts')
    const { systemClock } = await import('../../base/clock.ts')
    const { findRoot, runSync } = await import('../../client/sync/index.ts')
    const { sleep } = await import('../../base/sleep.ts')
    const stateFolder = userFolder('state', globals.env)
    const path = await findRoot(args.dir, process.cwd(), stateFolder)
    const run = (dryRun: boolean, emit: (event: SyncEvent) => void): Promise<Summary> =>
      interruptible('Interrupted: the next run completes the undo.', (signal) =>
        runSync({
          path,
          stateFolder,
          api,
          account,
          dryRun,
          sleep,
          emit,
          undo: true,
          clock: systemClock,
          maxDelete: 'any',
          signal,
        }),
      )

    if (flags.dryRun || !flags.yes) {
      const events: SyncEvent[] = []
      if (!flags.dryRun && !io.interactive) await io.confirm('Undo the last run?')
      const planned = await run(true, (event) => void events.push(event))
      const { run_at: at, of_undo: ofUndo, done, left } = planned.undo!
      if (!io.json) io.event(headline(planned, systemClock.now()), undefined)
      events.forEach(makeUndoReport(io))
      if (flags.dryRun || done === 0) {
        if (flags.dryRun && done > 0) io.event('Nothing was changed: this was a dry run.', undefined)
        if (io.json) io.event('', { event: 'summary', ...planned })
        return left.length > 0 ? 3 : 0
      }
      if (!(await io.confirm(`Undo the ${ofUndo ? 'undo' : 'run'} of ${formatTime(at!)}?`))) throw cancelled()
    }
    // After a confirmation the user has seen the lines already.
    const summary = await run(false, flags.yes || io.json ? makeUndoReport(io) : () => undefined)
    const { done, left } = summary.undo!
    const rest = left.length > 0 ? `; ${pluralize(left.length, 'item')} skipped` : ''
    const words = done === 0 ? `There was nothing to undo${rest}.` : `Undid ${pluralize(done, 'change')}${rest}.`
    io.event(words, { event: 'summary', ...summary })
    return left.length + summary.conflicts.length > 0 ? 3 : 0
  },
})

/** What is about to be undone. */
function headline({ undo: planned }: Summary, now: number): string {
  const { run_at: at, of_undo: ofUndo, done } = planned!
  if (at === null) return 'No run has changed anything yet: there is nothing to undo.'
  const when = `${formatTime(at)}, ${formatDuration(now - at)} ago`
  const what = ofUndo ? 'undo' : 'run'
  return done === 0 ? `Nothing of the ${what} of ${when} can be undone.` : `This undoes the ${what} of ${when}.`
}

const LINES = 40

const REASONS: Record<Undone['did'], string> = {
  upload: 'that run uploaded it',
  download: 'that run downloaded it',
  'remove-local': 'that run deleted it locally',
  'remove-remote': 'that run deleted it on the server',
  'make-local': 'that run created it locally',
  'make-remote': 'that run created it on the server',
  'move-local': 'that run moved it locally',
  'move-remote': 'that run moved it on the server',
  'move-base': 'that run recorded its move',
  'set-aside': 'that run renamed it to a conflict copy',
  touch: 'that run set its time',
  record: 'that run recorded it',
  forget: 'that run forgot it',
  undo: 'an undo did the opposite',
}

function actionOf({ do: what, side }: Undone): string {
  if (what === 'remove-copy') return side === 'here' ? 'remove local' : 'remove remote'
  if (what === 'remove') return 'delete again'
  if (what === 'restore') return 'restore'
  if (what === 'revive') return 'bring back'
  return what === 'move-back' ? 'move back' : 'copy again'
}

/** Reports each undone or skipped operation with its reason. */
function makeUndoReport(io: Io) {
  let lines = 0
  return (event: SyncEvent): void => {
    if (io.json) {
      if (['started', 'notice', 'undo', 'left', 'waiting'].includes(event.event)) io.event('', event)
    } else if (event.event === 'notice') io.info(event.message)
    else if (event.event === 'undo' || event.event === 'left') {
      lines += 1
      if (lines === LINES + 1) io.info('… and more; --json lists all.')
      if (lines <= LINES) io.event(lineOf(io, event), undefined)
    }
  }
}

const shown = (path: string): string => printable(path.slice(1))

function lineOf(io: Io, event: Extract<SyncEvent, { event: 'undo' | 'left' }>): string {
  const line = (what: string, rest: string, why: string): string =>
    `${what.padEnd(14)}${rest}${io.paint.dim(`  ${why}`)}`
  if (event.event === 'left') return line('skipped', shown(event.path), event.message)
  const way = event.to === undefined ? '' : ` → ${shown(event.to)}`
  return line(actionOf(event), shown(event.path) + way, REASONS[event.did])
}
