import { sep } from 'node:path'
import { realPathOf } from '../../host/real-path.ts'
import { openBucket } from '../../storage/backups/bucket.ts'
import { isBucket, repositoryName } from '../../storage/backups/repository-path.ts'
import type { DataDirectory } from './data-directory.ts'

/** Whether a place for backups, as a setting or flag has it, is lost together with the data directory. Opens no bucket. */
export function isInDataDirectory(place: string, { path }: Pick<DataDirectory, 'path'>): boolean {
  if (isBucket(place)) return false
  const [inner, outer] = [realPathOf(repositoryName(place)), realPathOf(path)]
  return inner === outer || inner.startsWith(outer + sep)
}

// Which right the key lacks on purpose: `backup-and-restore.md`, "Where the server cannot delete".
const RIGHTS = 'list the bucket and to read and write its objects'

/**
 * The name of a folder or bucket of backups, which can be used in this process until `close`. `job` ends the requests to a bucket. Throws
 * `BadS3Location`.
 */
export function openPlace(
  text: string,
  env: NodeJS.ProcessEnv,
  job?: AbortSignal,
): { place: string; close: () => void } {
  const place = repositoryName(text)
  if (!isBucket(place)) return { place, close: () => undefined }
  // Backups can have a key of their own, which may not remove anything. A session token belongs to one key.
  const hasOwn = ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'].some((name) => env[`BACKUP_AWS_${name}`])
  const variables = hasOwn ? 'BACKUP_' : ''
  const given = (name: string): string => env[`${variables}AWS_${name}`] ?? ''
  const credentials = {
    accessKeyId: given('ACCESS_KEY_ID'),
    secretAccessKey: given('SECRET_ACCESS_KEY'),
    sessionToken: given('SESSION_TOKEN') || undefined,
  }
  return { place, close: openBucket(place, credentials, { variables, rights: RIGHTS, job }) }
}
