import { formatSize } from '../../base/sizes.ts'
import type { Manifest } from '../../domain/backups/backups.ts'
import { pluralize } from '../../base/counts.ts'
import { commandLine } from '../../base/shell-words.ts'
import type { Globals } from '../command.ts'

/** A backup as `--json` prints it. */
export const documentOf = ({ id, created_at, version, totals, added, missing }: Manifest) => ({
  id,
  created_at,
  version,
  ...totals,
  added_objects: added.objects,
  added_bytes: added.bytes,
  missing: missing.length,
})

/** For example `10,412 files of 37 accounts, 1.2 GB`. */
export const contentText = ({ totals }: Manifest): string =>
  `${pluralize(totals.files, 'file')} of ${pluralize(totals.accounts, 'account')}, ${formatSize(totals.bytes)}`

/** The command that restores a backup, to a folder whose name the reader may change. `--data-dir` has another meaning there. */
export const restoreLine = (id: string, place: string, isArchive: boolean, ...more: string[]): string =>
  commandLine({ dataDir: 'svc-restored' }, [
    'backup',
    'restore',
    ...(isArchive ? [place] : [id, '--from', place]),
    ...more,
  ])

/** The command that removes a backup whose manifest is damaged, after the words that introduce it. */
export const dropText = (globals: Globals, id: string, place: string): string =>
  `To remove the backup: ${commandLine(globals, ['backup', 'prune', '--drop', id, '--from', place])}`

/** What damaged manifests in a folder mean for the removal of old backups, and what helps; undefined without any. */
export function damageText(
  globals: Globals,
  damaged: readonly { id: string; what: string }[],
  place: string,
): string | undefined {
  const [first, ...others] = damaged
  if (!first) return undefined
  const more = others.length > 0 ? ` So are ${others.map(({ id }) => id).join(', ')}.` : ''
  return (
    `${first.what}${more} No data is removed, because a damaged backup may need it. ` +
    dropText(globals, first.id, place)
  )
}
