import type { Measurement } from '../http/host-status.ts'
import { diskSpace } from '../host/disk-space.ts'
import { readiness } from './doctor/doctor.ts'
import type { Local } from './local-domain.ts'

/** What `/metrics` reports about database, store, disk and backups. */
export function measurementsOf(local: Local): Measurement[] {
  const { database: activity, blobs } = local.activity
  const gauge = (name: string, help: string, read: Measurement['read']): Measurement => ({
    kind: 'gauge',
    name,
    help,
    read,
  })
  const counter = (name: string, help: string, read: Measurement['read']): Measurement => ({
    kind: 'counter',
    name,
    help,
    read,
  })
  const { connections, isListening } = activity()
  return [
    gauge('svc_ready', '1 if /readyz answers 200, otherwise 0.', async () => Number((await readiness(local)).ready)),
    gauge(
      'svc_disk_free_bytes',
      'Free space of the disk with the data directory.',
      async () => (await diskSpace(local.directory.path)).free,
    ),
    gauge(
      'svc_last_backup_timestamp_seconds',
      'Time of the last backup in the scheduled place, Unix time; 0 without one.',
      async () => Math.floor(((await local.domain.backups.lastBackup())?.at ?? 0) / 1_000),
    ),
    counter('svc_database_commits_total', 'Commits. Several changes can share one.', () => activity().commits),
    counter(
      'svc_database_commit_seconds_total',
      'Time in commits, until they were durable.',
      () => activity().commitSeconds,
    ),
    counter(
      'svc_database_begin_seconds_total',
      'Time until transactions could begin: waiting for locks and connections.',
      () => activity().beginSeconds,
    ),
    counter('svc_database_failures_total', 'Transactions that could not begin or commit.', () => activity().failures),
    ...(connections
      ? [
          gauge('svc_database_connections', 'Open connections for reading.', () => activity().connections!.open),
          gauge(
            'svc_database_connections_idle',
            'Open connections that nobody uses.',
            () => activity().connections!.idle,
          ),
          gauge(
            'svc_database_connections_awaited',
            'Requests that wait for a connection.',
            () => activity().connections!.awaited,
          ),
        ]
      : []),
    ...(isListening === undefined
      ? []
      : [
          gauge('svc_database_listening', '1 while notifications of other servers arrive, otherwise 0.', () =>
            Number(activity().isListening),
          ),
        ]),
    ...(blobs
      ? [
          counter('svc_store_requests_total', 'Requests to the S3 store, retries included.', () => blobs().requests),
          counter('svc_store_failures_total', 'Requests to the S3 store that failed.', () => blobs().failures),
        ]
      : []),
  ]
}
