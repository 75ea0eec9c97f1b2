import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { usage } from '../exit.ts'
import { vacuumFlag, vacuumText } from '../vacuum.ts'

export const compact = command({
  name: 'sync-log compact',
  summary: 'Delete records of deletions that every client has had time to read',
  details:
    'A running server does this every hour; the setting retention.tombstones_days is how long it keeps them. A client that was offline longer ' +
    'has to synchronise from the start.',
  needs: 'domain',
  args: {},
  flags: { dryRun: flag.switch('show what would be deleted, and change nothing'), ...vacuumFlag },
  examples: ['svc sync-log compact --dry-run', 'svc sync-log compact --shrink'],
  async run({ io, domain: { instance }, flags: { dryRun, shrink } }) {
    if (dryRun && shrink) throw usage('--dry-run changes nothing, and --shrink does: give one of them.')
    const { tombstones, messages } = await instance.storage.compact({ dryRun })
    const room = shrink ? await instance.storage.shrink() : undefined
    const verb = dryRun ? 'Would forget' : 'Forgot'
    const lines = [
      `${verb} ${pluralize(tombstones, 'deletion')} of rows and ${pluralize(messages, 'deletion')} of messages.`,
      ...(room ? [vacuumText(room)] : []),
    ]
    io.print(lines.join('\n'), {
      dry_run: dryRun,
      tombstones,
      deleted_messages: messages,
      ...(room && { database_bytes_before: room.before, database_bytes_after: room.after }),
    })
  },
})
