import { mkdir } from 'node:fs/promises'
import { Busy } from '../../base/errors.ts'
import { HOUR, SECOND, systemClock } from '../../base/clock.ts'
import { stream, type StreamState } from '../../domain/backups/streaming.ts'
import { BadRepository, repositoryAt } from '../../storage/backups/repository.ts'
import { isBucket } from '../../storage/backups/repository-path.ts'
import { openStreamTarget } from '../../storage/backups/stream-target.ts'
import { openSqlitePageStream } from '../../storage/engine/sqlite-page-stream.ts'
import { version } from '../config/version.ts'
import { keptKey } from '../installation/backup-keys.ts'
import { scratchFolder } from '../installation/data-directory.ts'
import { readGiven } from '../config/given-config.ts'
import { installationFiles } from '../installation/installation-files.ts'
import { keepsOwnRows, openBlobs } from '../installation/storage.ts'
import type { BackupContext } from './backup-context.ts'
import { backupTarget, isArchiveName, type Passphrases } from './backup-locations.ts'
import { openPlace } from '../installation/backup-place.ts'
import { makeNotes } from '../backup-stream-status.ts'

/** Each record of a bucket is an object, which is paid for, and read by itself for a restore. */
const BUCKET = { collectEvery: SECOND, chapterLength: HOUR }

/** How long a bucket is waited for when the stream is to end. */
const GRACE = 5 * SECOND

export interface StreamOptions {
  to: string
  encrypt: boolean
  startsOver: boolean
  days: number
  /** How long a chapter is continued, ms. */
  chapterLength?: number | undefined
}

/** Why the rows of an installation cannot be streamed, or undefined. */
const POSTGRES =
  'The rows are in Postgres, which has its own tools for that: archive its log with pg_receivewal or WAL-G, and ' +
  'run svc backup schedule for keys and contents. See backup-and-restore.md.'

/** Streams the changes of an installation until the signal. `onState` is called several times a second. */
export async function streamBackups(
  { domain, directory }: Pick<BackupContext, 'domain' | 'directory'>,
  { to, encrypt, startsOver, days, chapterLength }: StreamOptions,
  { passphrases, env }: { passphrases: Passphrases; env: NodeJS.ProcessEnv },
  onState: (state: StreamState) => void,
  signal: AbortSignal,
): Promise<void> {
  const given = await readGiven(directory, env)
  if (!keepsOwnRows(given)) throw new BadRepository(POSTGRES, 2)
  if (isArchiveName(to)) throw new BadRepository(`${to} is an archive: a stream needs a folder.`, 2)
  // What was collected is still stored after the signal, but a store that does not answer is not waited for.
  const hanging = new AbortController()
  const abandon = () =>
    hanging.abort(
      new Busy(`${to} did not answer: its last changes may be missing. The lock there expires within ten minutes.`),
    )
  let grace: NodeJS.Timeout | undefined
  signal.addEventListener('abort', () => (grace = setTimeout(abandon, GRACE)))
  const { close } = openPlace(to, env, hanging.signal)
  const blobs = await openBlobs(directory, given.values.blobs ?? '', env)
  await mkdir(scratchFolder(directory), { recursive: true, mode: 0o700 })
  const notes = makeNotes(directory)
  try {
    const target = await backupTarget({ domain, directory }, { to, encrypt, startsOver }, passphrases)
    await (await target.open(blobs)).close()
    const header = (await repositoryAt(target.place))!
    const key = header.encrypted ? await keptKey(directory.path, target.place, header.repository) : undefined
    const into = await openStreamTarget(target.place, header, key, blobs)
    const pages = openSqlitePageStream(directory.database)
    let last: StreamState | undefined
    try {
      const context = {
        pages,
        target: into,
        clock: systemClock,
        identity: domain.instance.identity,
        version,
        installation: () => installationFiles(directory, env),
        days,
        ...(isBucket(target.place) ? BUCKET : {}),
        ...(chapterLength === undefined ? {} : { chapterLength }),
        onState(state: StreamState) {
          last = state
          // What is reported can also be read.
          notes
            .note(state)
            .then(() => onState(state))
            .catch(() => undefined)
        },
      }
      await stream(context, signal)
    } finally {
      if (last) await notes.note(last, true)
      pages.close()
      await into.close()
    }
  } finally {
    clearTimeout(grace)
    close()
    await blobs.close()
  }
}
