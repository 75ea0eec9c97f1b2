import { formatDuration } from '../../base/durations.ts'
import { printable } from '../../base/text.ts'
import { command } from '../command.ts'
import { moment } from '../moment.ts'

const NAMED = 20

export const status = command({
  name: 'sync status',
  summary: 'How a synchronised folder stands, without asking the server',
  details:
    'Shows the account, the last run, what changed here since, and what is left alone and why. To see what would come from the server too: ' +
    'svc sync --dry-run. Exit code 3 when something is left alone or the last run failed.',
  needs: 'nothing',
  args: { dir: { summary: 'synchronised folder', optional: true } },
  flags: {},
  examples: ['svc sync status', 'svc sync status ~/cloud --json'],
  async run({ io, globals, args }) {
    const { userFolder } = await import('../../host/folders.ts')
    const { systemClock, iso } = await import('../../base/clock.ts')
    const { findRoot } = await import('../../client/sync/root.ts')
    const { readStatus } = await import('../../client/sync/status.ts')
    const { leftAlone } = await import('./show.ts')
    const { many } = await import('./many.ts')
    const stateFolder = userFolder('state', globals.env)
    const path = await findRoot(args.dir, process.cwd(), stateFolder)
    const found = await readStatus({ path, stateFolder, clock: systemClock })
    const {
      root,
      url,
      username,
      running,
      watched,
      last_run: last,
      last_failure: failure,
      agreed,
      pending,
      ignored,
      skipped,
    } = found
    const ago = (at: number): string => `${formatDuration(systemClock.now() - at)} ago`

    const lastRun = last ? `${moment(last.at)}, ${ago(last.at)}` : 'none yet'
    const lines = [
      `${io.paint.bold(root)}  ${printable(username)} at ${url}`,
      `Last run    ${lastRun}${running ? '; one is at work now' : ''}`,
      ...(watched ? ['Watched     by svc sync --watch'] : []),
      ...(failure ? [`Failed      ${ago(failure.at)}: ${printable(failure.message)}`] : []),
      `In step     ${many(agreed.files, 'file')}, ${many(agreed.folders, 'folder')}`,
      `Changed     ${pending.length === 0 ? 'nothing here since' : `${many(pending.length, 'item')} here since:`}`,
      ...pending.slice(0, NAMED).map(({ path: at, change, from }) => {
        const before = from === undefined ? '' : `${printable(from.slice(1))} → `
        return `  ${change.padEnd(8)}  ${before}${printable(at.slice(1))}`
      }),
    ]
    if (pending.length > NAMED) lines.push(`  … and ${(pending.length - NAMED).toLocaleString('en')} more`)
    if (ignored.length > 0)
      lines.push(`Ignored     ${many(ignored.length, 'item')}; svc sync --dry-run names the rules`)
    if (skipped.length > 0) lines.push(leftAlone(io, skipped))
    io.say(lines.join('\n'), {
      ...found,
      last_run: last && { ...last, at: iso(last.at) },
      last_failure: failure && { ...failure, at: iso(failure.at) },
    })
    return skipped.length > 0 || failure ? 3 : 0
  },
})
