import { formatCount, pluralize } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import { command, flag } from '../command.ts'

export const recount = command({
  name: 'quota recount',
  summary: 'Recompute the storage counts of accounts',
  details:
    'The server keeps these counts correct. Use this command after a manual repair. It is safe while the server runs. With --dry-run it ends with ' +
    '3 when a count is wrong.',
  needs: 'domain',
  args: {},
  flags: { dryRun: flag.switch('show what is wrong, and change nothing') },
  examples: ['svc quota recount --dry-run', 'svc quota recount'],
  async run({ io, domain: { instance }, flags }) {
    const drifts = await instance.usage.recount({ dryRun: flags.dryRun })
    const verb = flags.dryRun ? 'is counted' : 'was counted'
    const lines = drifts.map(
      ({ username, kind, counted, actual }) =>
        `${username}, ${kind}: ${amount(counted)} ${verb}, the actual value is ${amount(actual)}.`,
    )
    if (lines.length === 0) lines.push('The counts of all accounts are correct.')
    else if (!flags.dryRun) lines.push(`Corrected: ${pluralize(lines.length, 'count')}.`)
    io.print(lines.join('\n'), {
      dry_run: flags.dryRun,
      accounts: drifts.map(({ username, kind, counted, actual }) => ({
        username,
        kind,
        counted_bytes: counted,
        actual_bytes: actual,
      })),
    })
    return flags.dryRun && drifts.length > 0 ? 3 : 0
  },
})

/** Includes exact bytes: rounding would hide small differences. */
const amount = (bytes: number): string => `${formatSize(bytes)} (${formatCount(bytes)} bytes)`
