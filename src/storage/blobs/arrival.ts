import type { Stats } from 'node:fs'
import { open, opendir, rm, stat, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { codeOf, recognise } from '../../base/trouble.ts'
import type { Hasher } from '../../host/hasher.ts'
import { receive } from '../../host/receive.ts'
import { TooLarge } from './blobs.ts'

/** A content that has arrived: a complete temporary file, not flushed. */
export interface Arrived {
  name: string
  file: FileHandle
  sha256: string
  size: number
}

/** Size and age of a file; undefined when another process has just removed it. */
export const factsOf = (path: string): Promise<Stats | undefined> =>
  stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })

/** Removes what interrupted uploads left behind; what is younger than a day may still be arriving in another process. */
export async function sweep(temporary: string): Promise<void> {
  for await (const { name } of await opendir(temporary)) {
    const path = join(temporary, name)
    const found = await factsOf(path)
    if (found && found.mtimeMs < Date.now() - DAY) await rm(path, { force: true })
  }
}

/**
 * Receives a source into a new file of a folder, hashed while it arrives, and lets `keep` do with it what makes it durable;
 * the file is gone afterwards. Throws `TooLarge`, `DiskFull`, and whatever the source and `keep` throw.
 */
export async function takeIn(
  source: AsyncIterable<Uint8Array>,
  max: number,
  { folder, hasher }: { folder: string; hasher: Hasher },
  keep: (arrived: Arrived) => Promise<void>,
): Promise<{ sha256: string; size: number }> {
  const name = join(folder, randomHex(16))
  const job = hasher.start()
  try {
    const file = await open(name, 'wx+', 0o600)
    try {
      const size = await receive(source, file, job, { max })
      if (size > max) throw new TooLarge(`More than ${max} bytes.`)
      const sha256 = await job.digest()
      await keep({ name, file, sha256, size })
      return { sha256, size }
    } finally {
      await file.close()
    }
  } catch (error) {
    await job.abandon()
    throw recognise(error)
  } finally {
    await unlink(name).catch(() => undefined)
  }
}
