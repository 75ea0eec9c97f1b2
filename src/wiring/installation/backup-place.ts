import { openBucket } from '../../storage/backups/bucket.ts'
import { isBucket, repositoryName } from '../../storage/backups/repository-path.ts'

/** The name of a folder or bucket of backups, which can be used in this process from now on. Throws `BadS3Location`. */
export function openPlace(text: string, env: NodeJS.ProcessEnv): string {
  const place = repositoryName(text)
  // Backups can have a key of their own, which may not remove anything.
  const given = (name: string): string => env[`BACKUP_${name}`] ?? env[name] ?? ''
  if (isBucket(place))
    openBucket(place, {
      accessKeyId: given('AWS_ACCESS_KEY_ID'),
      secretAccessKey: given('AWS_SECRET_ACCESS_KEY'),
      sessionToken: given('AWS_SESSION_TOKEN') || undefined,
    })
  return place
}
