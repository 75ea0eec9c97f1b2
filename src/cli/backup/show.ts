import { formatCount, pluralize } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import { command } from '../command.ts'
import { formatTime } from '../time-format.ts'
import { documentOf } from './backup-summary.ts'
import { BACKUP_NAMES, passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'

export const show = command({
  name: 'backup show',
  summary: 'Show one backup: what it holds and where it comes from',
  details: `${BACKUP_NAMES}.`,
  needs: 'nothing',
  onlyPrints: true,
  args: { backup: 'backup' },
  flags: sourceFlags,
  examples: ['svc backup show latest', 'svc backup show 20261121-03', 'svc backup show svc.tar --json'],
  async run({ io, globals, args, flags }) {
    const { backupNamed, backupSource } = await import('../../wiring/backups/backup-locations.ts')
    const source = await backupSource(args.backup, sourceOptions(globals, flags), passphraseSource(io, flags))
    const manifest = await source.manifest(await backupNamed(source, args.backup))
    await source.close()
    const { id, created_at, version, server_id, epoch, database, blobs, files, totals, added, missing, rows } = manifest
    const large =
      blobs.count === 0 ? '' : `, ${pluralize(blobs.count, 'large content')} with ${formatSize(blobs.bytes)}`
    const lines: [string, string][] = [
      ['Made', `${formatTime(Date.parse(created_at))} by svc ${version}`],
      ['Place', `${source.place}${source.encrypted ? ', encrypted' : ''}`],
      ['Server', server_id],
      ['Epoch', epoch],
      ['Accounts', formatCount(totals.accounts)],
      ['Files', `${formatCount(totals.files)} with ${formatSize(totals.file_bytes)}`],
      ['Rows', formatCount(Object.values(rows).reduce((sum, count) => sum + count, 0))],
      ['Stored', `database ${formatSize(database.size)}${large}, ${formatSize(totals.bytes)} in total`],
      ['New', `${formatSize(added.bytes)} in ${pluralize(added.objects, 'object')}`],
      ['Also', files.map(({ path }) => path).join(', ')],
      ...(missing.length > 0 ? [['Missing', pluralize(missing.length, 'content')] as [string, string]] : []),
    ]
    const words = [io.paint.bold(id), ...lines.map(([label, text]) => `  ${label.padEnd(10)}${text}`)]
    io.print(words.join('\n'), {
      ...documentOf(manifest),
      place: source.place,
      encrypted: source.encrypted,
      server_id,
      epoch,
      database_bytes: database.size,
      blob_count: blobs.count,
      blob_bytes: blobs.bytes,
      installation_files: files.map(({ path }) => path),
      missing_contents: missing,
      rows,
      migrations: manifest.migrations,
    })
  },
})
