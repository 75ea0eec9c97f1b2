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
