import { formatCount } from '../../base/counts.ts'
import { commandLine } from '../../base/shell-words.ts'
import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { documentOf, dropText, restoreLine } from './backup-summary.ts'
import { passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'

export const list = command({
  name: 'backup list',
  summary: 'List the backups, oldest first',
  details:
    'NEW is what a backup added to its folder: most of a backup is shared with earlier ones. A backup whose manifest cannot be read is named, and the command exits with 3.',
  needs: 'nothing',
  onlyPrints: true,
  args: {},
  flags: sourceFlags,
  examples: ['svc backup list', 'svc backup list --from /mnt/backup/svc --json'],
  async run({ io, globals, flags }) {
    const { isBucket, listBackups } = await import('../../wiring/backups/backup-locations.ts')
    const passphrases = passphraseSource(io, flags)
    const { place, manifests, damaged, hasStream } = await listBackups(sourceOptions(globals, flags), passphrases)
    const doubt = isBucket(place) ? 'is the address right?' : 'is the disk mounted?'
    const none = hasStream
      ? `There are no backups in ${place}, only a stream. To restore its end: ${restoreLine('stream', place, false)}`
      : `There are no backups in ${place} yet. If there should be some: ${doubt} To make one: ${commandLine(globals, ['backup', 'create', '--to', place])}`
    io.table(
      manifests,
      [
        { title: 'ID', value: ({ id }) => id },
        { title: 'MADE', value: ({ created_at }) => formatTime(Date.parse(created_at)) },
        { title: 'ACCOUNTS', value: ({ totals }) => totals.accounts, align: 'right' },
        { title: 'FILES', value: ({ totals }) => formatCount(totals.files), align: 'right' },
        { title: 'SIZE', value: ({ totals }) => formatSize(totals.bytes), align: 'right' },
        { title: 'NEW', value: ({ added }) => formatSize(added.bytes), align: 'right' },
        { title: 'VERSION', value: ({ version }) => version },
      ],
      none,
      manifests.map(documentOf),
    )
    for (const { id, what } of damaged)
      io.warn(
        [
          what,
          `To check the others: ${commandLine(globals, ['backup', 'verify', '--from', place])}`,
          dropText(globals, id, place),
        ].join('\n'),
      )
    return damaged.length > 0 ? 3 : 0
  },
})
