import { formatCount, pluralize } from '../../base/counts.ts'
import { formatDuration } from '../../base/durations.ts'
import { printable } from '../../base/text.ts'
import type { Status, WaitResult } from '../../client/sync/index.ts'
import { command, flag } from '../command.ts'
import { Exit, usage, type ExitCode } from '../exit.ts'
import { interruptible } from '../interruption.ts'
import type { Globals } from '../command.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../time-format.ts'
import { changesIn, skippedText } from './run-report.ts'

const NAMED = 20

export const status = command({
  name: 'sync status',
  summary: 'Show the state of a synchronised folder, without contacting the server',
  details:
    'Shows the account, the last run, local changes since, and what is skipped and why. To also see what would come from the server: ' +
    'svc sync --dry-run. Exit code 3 when something is skipped or in conflict, or the last run failed.\n\n' +
    '--wait ends as soon as both sides are in sync: with exit code 0, or 3 when something is skipped. It checks ' +
    'the folder and the account, while svc sync or svc sync --watch does the work elsewhere. When the time of --timeout has ' +
    'passed the exit code is 1; it is 7 when the server cannot be reached, and 8 when a run would stop for safety.',
  needs: 'nothing',
  args: { dir: { summary: 'synchronised folder', optional: true } },
  flags: {
    wait: flag.switch('wait until both sides are in sync'),
    timeout: flag.duration('maximum time to wait (no limit)'),
  },
  examples: ['svc sync status', 'svc sync status ~/cloud --json', 'svc sync status --wait --timeout 2m'],
  async run({ io, globals, args, flags }) {
    if (flags.timeout !== undefined && !flags.wait) throw usage('--timeout is for --wait: give both.')
    const { userFolder } = await import('../../host/user-folders.ts')
    const { systemClock, iso } = await import('../../base/clock.ts')
    const { findRoot, readStatus } = await import('../../client/sync/index.ts')
    const stateFolder = userFolder('state', globals.env)
    const path = await findRoot(args.dir, process.cwd(), stateFolder)
    const waited = flags.wait ? await wait({ io, globals, path, stateFolder, timeout: flags.timeout }) : undefined

    const found = await readStatus({ path, stateFolder, clock: systemClock })
    const { last_run: last, last_failure: failure, skipped } = found
    const { in_step, waited_ms } = waited ?? {}
    io.print(statusPage(io, found, systemClock.now()), {
      ...found,
      last_run: last && { ...last, at: iso(last.at) },
      last_failure: failure && { ...failure, at: iso(failure.at) },
      conflicts: found.conflicts.map((each) => ({ ...each, at: iso(each.at) })),
      rows: found.rows && { ...found.rows, as_of: found.rows.as_of === null ? null : iso(found.rows.as_of) },
      ...(waited ? { in_step, waited_ms } : {}),
    })
    if (waited) return waitExitCode(io, waited)
    return skipped.length + unresolved(found) > 0 || failure ? 3 : 0
  },
})

function statusPage(io: Io, found: Status, now: number): string {
  const { root, url, username, running, watched, last_run: last, last_failure: failure } = found
  const { agreed, pending, ignored, skipped, left_out: leftOut, rows } = found
  const ago = (at: number): string => `${formatDuration(now - at)} ago`
  const did = last ? changesIn(last).join(', ') : ''
  const lastRun = last ? `${formatTime(last.at)}, ${ago(last.at)}${did === '' ? '' : `: ${did}`}` : 'none yet'
  const lines = [
    `${io.paint.bold(root)}  ${printable(username)} at ${url}`,
    `Last run    ${lastRun}${running ? '; another is running now' : ''}`,
    ...(watched ? ['Watched     by svc sync --watch'] : []),
    ...(failure ? [io.paint.yellow(`Failed      ${ago(failure.at)}: ${printable(failure.message)}`)] : []),
    `In sync     ${pluralize(agreed.files, 'file')}, ${pluralize(agreed.folders, 'folder')}`,
    `Changed     ${pending.length === 0 ? 'nothing here since' : `${pluralize(pending.length, 'item')} here since:`}`,
    ...pending.slice(0, NAMED).map(({ path: at, change, from }) => {
      const before = from === undefined ? '' : `${printable(from.slice(1))} → `
      return `  ${change.padEnd(8)}  ${before}${printable(at.slice(1))}`
    }),
  ]
  if (pending.length > NAMED) lines.push(`  … and ${formatCount(pending.length - NAMED)} more`)
  if (ignored.length > 0)
    lines.push(`Ignored     ${pluralize(ignored.length, 'item')}; svc sync --dry-run names the rules`)
  if (rows && rows.waiting > 0)
    lines.push(`Rows        ${pluralize(rows.waiting, 'change')} not sent to the server yet`)
  if (unresolved(found) > 0) lines.push(`Conflicts   ${unresolved(found)}: svc sync conflicts`)
  if (leftOut.length > 0)
    lines.push(
      `Left out    ${pluralize(leftOut.length, 'link or special file', 'links or special files')}; --json lists them`,
    )
  if (skipped.length > 0) lines.push(skippedText(io, skipped))
  return lines.join('\n')
}

const unresolved = ({ conflicts, rows }: Status): number =>
  conflicts.length + (rows ? rows.conflicts + rows.refused : 0)

interface WaitOptions {
  io: Io
  globals: Globals
  path: string
  stateFolder: string
  timeout: number | undefined
}

async function wait({ io, globals, path, stateFolder, timeout }: WaitOptions): Promise<WaitResult> {
  const { systemClock: clock } = await import('../../base/clock.ts')
  const { findAccount, openApi } = await import('../../client/auth/credentials.ts')
  const { readStatus, runSync, waitUntilInSync } = await import('../../client/sync/index.ts')
  const { sleep } = await import('../../base/sleep.ts')
  const account = await findAccount({ env: globals.env, profile: globals.profile })
  const api = openApi(account)
  const where = { path, stateFolder, clock }
  try {
    return await interruptible('Interrupted.', (signal) =>
      waitUntilInSync({
        status: () => readStatus(where),
        plan: (emit) => runSync({ ...where, api, account, dryRun: true, maxDelete: undefined, sleep, signal, emit }),
        timeout,
        clock,
        sleep,
        signal,
        onWait({ running, watched }) {
          if (!running && !watched)
            io.info('Waiting, but no run is active: start svc sync or svc sync --watch elsewhere.')
        },
      }),
    )
  } finally {
    api.close()
  }
}

function waitExitCode(io: Io, { in_step, waited_ms, pending, skipped, refused }: WaitResult): ExitCode {
  if (refused) throw new Exit(8, refused.message, refused.reason)
  if (!in_step) {
    const what = pending === 0 ? 'a run is still active' : `${pluralize(pending, 'change')} still to be synchronised`
    throw new Exit(1, `Not in sync after ${formatDuration(waited_ms)}: ${what}.`, 'timeout')
  }
  if (!io.json) io.info(`Both sides are in sync${skipped.length > 0 ? ', except for skipped items' : ''}.`)
  return skipped.length > 0 ? 3 : 0
}
