import { HOUR } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { usage } from '../exit.ts'
import { vacuumFlag, vacuumText } from '../vacuum.ts'

const MIN_GRACE_HOURS = 24

export const gc = command({
  name: 'storage gc',
  summary: 'Remove what is no longer needed: expired trash, old versions, contents without a file',
  details:
    'A running server does this every hour; the setting retention.versions_days is how long deleted files are kept. Nothing is removed ' +
    'that was stored within the last day, or within --grace.\n' +
    'An unusual removal is refused (exit code 8): contents without a single account, more than half of everything at once, contents that a ' +
    'restored database cannot know, or a clock that jumped by more than a week. --confirm-count N removes it anyway, if it is at most N contents.',
  needs: 'domain',
  args: {},
  flags: {
    dryRun: flag.switch('show what would be removed, and change nothing'),
    confirmCount: flag.integer('confirm the number of contents that a refusal named', 'N', 1),
    grace: flag.duration('minimum age of a content (24h, which is the least)'),
    ...vacuumFlag,
  },
  examples: ['svc storage gc --dry-run', 'svc storage gc', 'svc storage gc --grace 7d --shrink'],
  async run({ io, domain: { instance }, flags: { dryRun, grace, shrink, confirmCount } }) {
    if (grace !== undefined && grace < MIN_GRACE_HOURS * HOUR)
      throw usage(`--grace is at least ${MIN_GRACE_HOURS}h: younger contents may be about to be used.`)
    if (dryRun && shrink) throw usage('--dry-run changes nothing, and --shrink does: give one of them.')
    const found = await instance.storage.collect({
      dryRun,
      ...(grace !== undefined && { grace }),
      ...(confirmCount !== undefined && { confirmed: confirmCount }),
    })
    const room = shrink ? await instance.storage.shrink() : undefined
    const lines = [
      `${dryRun ? 'Would remove' : 'Removed'} ${pluralize(found.trash, 'trash entry', 'trash entries')}, ${pluralize(found.versions, 'old version')} and ${pluralize(found.contents, 'content')} (${formatSize(found.bytes)}).`,
      ...(found.blobs > 0
        ? [
            `${pluralize(found.blobs, 'blob')} (${formatSize(found.blob_bytes)}) of interrupted uploads ${dryRun ? 'would go' : 'went'} too.`,
          ]
        : []),
      ...(room ? [vacuumText(room)] : []),
    ]
    io.print(lines.join('\n'), {
      dry_run: dryRun,
      ...found,
      ...(room && { database_bytes_before: room.before, database_bytes_after: room.after }),
    })
    if (found.refusal !== undefined) io.warn(found.refusal.replace('Nothing was removed', 'This would be refused'))
    if (found.held) io.warn('A backup is running, so contents are kept until it ends. Run this again afterwards.')
    return found.held || found.refusal !== undefined ? 3 : 0
  },
})
