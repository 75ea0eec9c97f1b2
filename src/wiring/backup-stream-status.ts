import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SECOND } from '../base/clock.ts'
import { errorCode } from '../base/errors.ts'
import type { StreamState } from '../domain/backups/streaming.ts'
import { writeDurably } from '../host/durable-files.ts'
import { isRunning } from '../host/process-status.ts'
import { scratchFolder, type DataDirectory } from './installation/data-directory.ts'

/** What a running or ended stream says about itself, for `svc doctor` and metrics. */
export interface StreamStatus {
  place: string
  pid: number
  since: number | null
  at: number | null
  problem: string | null
  /** Contents that could not be read, and are missing there. */
  missing: number
}

/** How far a stream may be behind, ms. */
export const LATE = 10 * SECOND
/** How often the state is written, ms. */
const NOTE_EVERY = SECOND

const statusFile = (directory: Pick<DataDirectory, 'path'>): string =>
  join(scratchFolder(directory as DataDirectory), 'backup-stream.json')

/** The last state of the stream of this installation, and whether it runs; undefined if there was none. */
export async function streamStatus(
  directory: Pick<DataDirectory, 'path'>,
): Promise<(StreamStatus & { isRunning: boolean }) | undefined> {
  try {
    const status = JSON.parse(await readFile(statusFile(directory), 'utf8')) as StreamStatus
    return { ...status, missing: status.missing ?? 0, isRunning: isRunning(status.pid) }
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Forgets an ended stream, so that nothing expects it. */
export const forgetStream = (directory: DataDirectory): Promise<void> => rm(statusFile(directory), { force: true })

/** Writes the state of a stream at most once a second. */
export function makeNotes(directory: DataDirectory) {
  let notedAt = -Infinity
  let noted: Pick<StreamState, 'since' | 'problem' | 'missing'> = { since: undefined, problem: undefined, missing: 0 }
  let writing = Promise.resolve()
  return {
    /** Resolves when this state, or one shortly before, is written. */
    async note({ place, since, at, problem, missing }: StreamState, isLast = false): Promise<void> {
      const isNews = isLast || problem !== noted.problem || since !== noted.since || missing !== noted.missing
      if (!isNews && performance.now() - notedAt < NOTE_EVERY) return writing
      noted = { since, problem, missing }
      notedAt = performance.now()
      const status = {
        place,
        pid: process.pid,
        since: since ?? null,
        at: at ?? null,
        problem: problem ?? null,
        missing,
      }
      // A full disk of the server does not end the stream.
      const write = () => writeDurably(statusFile(directory), JSON.stringify(status)).catch(() => undefined)
      await (writing = writing.then(write))
    },
  }
}
