import { formatDuration } from '../../base/durations.ts'
import { printable } from '../../base/text.ts'
import type { Summary, SyncEvent, Undone } from '../../client/sync/index.ts'
import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { interruptible } from '../interruption.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../times.ts'

export const undo = command({
  name: 'sync undo',
  summary: 'Take back what the last run that changed something did, here and on the server',
  details:
    'What was edited, deleted or moved is again on both sides what both held before that run. Of what was new only the copy is removed: ' +
    'the original stays where it was made, and runs leave it alone until it changes. What changed since the run is left as it is and named, ' +
    'with exit code 3; conflict copies stay, because both versions are there. What gives way here lies in .svc/trash, and on the ' +
    'server among the versions and in the trash. Nothing else is synchronised meanwhile.\n\n' +
    'Run it again to take the undo back. One that was cut off is brought to its end by the next run of either kind.',
  needs: 'server',
  args: { dir: { summary: 'synchronised folder', optional: true } },
  flags: { dryRun: flag.switch('show what would be done and why, and change nothing at all'), yes: flag.yes },
  examples: ['svc sync undo --dry-run', 'svc sync undo', 'svc sync undo ~/cloud --yes --json'],
  async run({ io, globals, api, account, args, flags }) {
    const { userFolder } = await import('../../host/folders.ts')
    const { systemClock } = await import('../../base/clock.ts')
    const { findRoot, runSync } = await import('../../client/sync/index.ts')
    const { sleep } = await import('../../base/sleep.ts')
    const stateFolder = userFolder('state', globals.env)
    const path = await findRoot(args.dir, process.cwd(), stateFolder)
    const run = (dryRun: boolean, emit: (event: SyncEvent) => void): Promise<Summary> =>
      interruptible('Interrupted: the next run brings the undo to its end.', (signal) =>
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
      if (!flags.dryRun && !io.interactive) await io.confirm('Take the last run back?')
      const planned = await run(true, (event) => void events.push(event))
      const { run_at: at, of_undo: ofUndo, done, left } = planned.undo!
      if (!io.json) io.event(headline(planned, systemClock.now()), undefined)
      events.forEach(makeUndoReport(io))
      if (flags.dryRun || done === 0) {
        if (flags.dryRun && done > 0) io.event('Nothing was changed: this was a dry run.', undefined)
        if (io.json) io.event('', { event: 'summary', ...planned })
        return left.length > 0 ? 3 : 0
      }
      if (!(await io.confirm(`Take back the ${ofUndo ? 'undo' : 'run'} of ${formatTime(at!)}?`))) throw cancelled()
    }
    // Who was asked has seen the lines already.
    const summary = await run(false, flags.yes || io.json ? makeUndoReport(io) : () => undefined)
    const { done, left } = summary.undo!
    const rest = left.length > 0 ? `; ${pluralize(left.length, 'item')} left alone` : ''
    const words =
      done === 0 ? `There was nothing to take back${rest}.` : `Took back ${pluralize(done, 'change')}${rest}.`
    io.event(words, { event: 'summary', ...summary })
    return left.length + summary.conflicts.length > 0 ? 3 : 0
  },
})

/** What is about to be taken back. */
function headline({ undo: planned }: Summary, now: number): string {
  const { run_at: at, of_undo: ofUndo, done } = planned!
  if (at === null) return 'No run has changed anything yet: there is nothing to take back.'
  const when = `${formatTime(at)}, ${formatDuration(now - at)} ago`
  const what = ofUndo ? 'undo' : 'run'
  return done === 0 ? `Nothing of the ${what} of ${when} can be taken back.` : `This takes back the ${what} of ${when}.`
}

const LINES = 40

const REASONS: Record<Undone['did'], string> = {
  upload: 'that run sent it',
  download: 'that run fetched it',
  'remove-local': 'that run deleted it here',
  'remove-remote': 'that run deleted it on the server',
  'make-local': 'that run made it here',
  'make-remote': 'that run made it on the server',
  'move-local': 'that run moved it here',
  'move-remote': 'that run moved it on the server',
  'move-base': 'that run noted its move',
  'set-aside': 'that run set it aside',
  touch: 'that run set its time',
  record: 'that run noted it',
  forget: 'that run forgot it',
  undo: 'an undo did the opposite',
}

function actionOf({ do: what, side }: Undone): string {
  if (what === 'remove-copy') return side === 'here' ? 'remove here' : 'remove there'
  if (what === 'remove') return 'delete again'
  if (what === 'restore') return 'restore'
  if (what === 'revive') return 'bring back'
  return what === 'move-back' ? 'move back' : 'copy again'
}

/** Tells, a line each, what is taken back and why, and what is left alone. */
function makeUndoReport(io: Io) {
  let lines = 0
  return (event: SyncEvent): void => {
    if (io.json) {
      if (['started', 'notice', 'undo', 'left', 'waiting'].includes(event.event)) io.event('', event)
    } else if (event.event === 'notice') io.info(event.message)
    else if (event.event === 'undo' || event.event === 'left') {
      lines += 1
      if (lines === LINES + 1) io.info('… and more; --json names all.')
      if (lines <= LINES) io.event(lineOf(io, event), undefined)
    }
  }
}

const shown = (path: string): string => printable(path.slice(1))

function lineOf(io: Io, event: Extract<SyncEvent, { event: 'undo' | 'left' }>): string {
  const line = (what: string, rest: string, why: string): string =>
    `${what.padEnd(14)}${rest}${io.paint.dim(`  ${why}`)}`
  if (event.event === 'left') return line('left alone', shown(event.path), event.message)
  const way = event.to === undefined ? '' : ` → ${shown(event.to)}`
  return line(actionOf(event), shown(event.path) + way, REASONS[event.did])
}
