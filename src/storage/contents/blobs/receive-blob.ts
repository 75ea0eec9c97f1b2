import type { Stats } from 'node:fs'
import { open, opendir, rm, stat, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY } from '../../../base/clock.ts'
import { randomHex } from '../../../base/random.ts'
import { errorCode, fromSystemError } from '../../../base/errors.ts'
import type { Hasher } from '../../../host/hasher.ts'
import { receive } from '../../../host/received-file.ts'
import { TooLarge, type Arrival } from './blobs.ts'

/** The complete temporary file of a received content, not flushed. */
export interface ReceivedBlob {
  name: string
  file: FileHandle
  sha256: string
  size: number
}

/** Size and age of a file; undefined if another process has just removed it. */
export const factsOf = (path: string): Promise<Stats | undefined> =>
  stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  })

/** Contents moved aside for removal: complete, and perhaps needed. */
const ASIDE = /^[0-9a-f]{64}\./

/** Removes leftovers of interrupted uploads; younger files may still be arriving in another process. */
export async function sweep(temporary: string): Promise<void> {
  for await (const { name } of await opendir(temporary)) {
    if (ASIDE.test(name)) continue
    const path = join(temporary, name)
    const found = await factsOf(path)
    if (found && found.mtimeMs < Date.now() - DAY) await rm(path, { force: true })
  }
}

/**
 * Receives a source into a new file of a folder and hashes it; `keep` makes the file durable when it is published. The
 * file is deleted afterwards, and if the source fails. Throws `TooLarge`, `DiskFull`, and whatever the source throws.
 */
export async function receiveBlob(
  source: AsyncIterable<Uint8Array>,
  max: number,
  { folder, hasher }: { folder: string; hasher: Hasher },
  keep: (arrived: ReceivedBlob) => Promise<void>,
): Promise<Arrival> {
  const name = join(folder, randomHex(16))
  const job = hasher.start()
  let file: FileHandle | undefined
  async function drop(): Promise<void> {
    const opened = file
    if (!opened) return
    file = undefined
    try {
      await opened.close()
    } finally {
      await unlink(name).catch(() => undefined)
    }
  }
  try {
    file = await open(name, 'wx+', 0o600)
    const size = await receive(source, file, job, { max })
    if (size > max) throw new TooLarge(`More than ${max} bytes.`)
    const arrived = { name, file, sha256: await job.digest(), size }
    return {
      sha256: arrived.sha256,
      size,
      async publish() {
        try {
          await keep(arrived)
        } catch (error) {
          throw fromSystemError(error, folder)
        } finally {
          await drop()
        }
      },
      drop,
    }
  } catch (error) {
    await job.abandon()
    await drop()
    throw fromSystemError(error, folder)
  }
}
