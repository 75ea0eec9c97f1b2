import { formatSize } from '../../base/sizes.ts'
import type { Manifest } from '../../domain/backups/backups.ts'
import { pluralize } from '../../base/counts.ts'

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

/** What damaged manifests in a folder mean for the removal of old backups, and what helps; undefined without any. */
export function damageText(damaged: readonly { id: string; what: string }[], folder: string): string | undefined {
  const [first, ...others] = damaged
  if (!first) return undefined
  const more = others.length > 0 ? ` So are ${others.map(({ id }) => id).join(', ')}.` : ''
  return (
    `${first.what}${more} No data is removed, because a damaged backup may need it. ` +
    `svc backup prune --drop ${first.id} --from ${folder} removes the backup.`
  )
}
