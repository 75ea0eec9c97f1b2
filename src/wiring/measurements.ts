import type { Measurement } from '../http/host-status.ts'
import { diskSpace } from '../host/disk-space.ts'
import { streamStatus } from './backup-stream-status.ts'
import type { Local } from './local-domain.ts'

/** What `/metrics` reports about database, store, disk and backups. */
export function measurementsOf(local: Local): Measurement[] {
  const { database: activity, blobs } = local.activity
  const measure = (name: string, help: string, read: Measurement['read']): Measurement => ({ name, help, read })
  const { connections, isListening } = activity()
  return [
    measure(
      'svc_disk_free_bytes',
      'Free space of the disk with the data directory.',
      async () => (await diskSpace(local.directory.path)).free,
    ),
    measure(
      'svc_last_backup_timestamp_seconds',
      'Time of the last backup in the scheduled place, Unix time; 0 without one.',
      async () => Math.floor(((await local.domain.backups.lastBackup())?.at ?? 0) / 1_000),
    ),
    measure(
      'svc_backup_stream_lag_seconds',
      'How far the stream of changes to the backups is behind; 0 without one.',
      async () => {
        const status = await streamStatus(local.directory)
        return status?.at ? Math.max(0, (Date.now() - status.at) / 1_000) : 0
      },
    ),
    measure('svc_database_commits_total', 'Commits. Several changes can share one.', () => activity().commits),
    measure(
      'svc_database_commit_seconds_total',
      'Time in commits, until they were durable.',
      () => activity().commitSeconds,
    ),
    measure(
      'svc_database_begin_seconds_total',
      'Time until transactions could begin: waiting for locks and connections.',
      () => activity().beginSeconds,
    ),
    measure('svc_database_failures_total', 'Transactions that could not begin or commit.', () => activity().failures),
    ...(connections
      ? [
          measure('svc_database_connections', 'Open connections for reading.', () => activity().connections!.open),
          measure(
            'svc_database_connections_idle',
            'Open connections that nobody uses.',
            () => activity().connections!.idle,
          ),
          measure(
            'svc_database_connections_awaited',
            'Requests that wait for a connection.',
            () => activity().connections!.awaited,
          ),
        ]
      : []),
    ...(isListening === undefined
      ? []
      : [
          measure('svc_database_listening', '1 while notifications of other servers arrive, otherwise 0.', () =>
            Number(activity().isListening),
          ),
        ]),
    ...(blobs
      ? [
          measure('svc_store_requests_total', 'Requests to the S3 store, retries included.', () => blobs().requests),
          measure('svc_store_failures_total', 'Requests to the S3 store that failed.', () => blobs().failures),
        ]
      : []),
  ]
}
