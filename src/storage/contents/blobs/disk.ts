import { constants } from 'node:fs'
import { copyFile, link, mkdir, opendir, rename, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MINUTE } from '../../../base/clock.ts'
import { randomHex } from '../../../base/random.ts'
import { Busy, errorCode, fromSystemError } from '../../../base/errors.ts'
import { syncFolder, writeDurably } from '../../../host/durable-files.ts'
import { makeFolder } from '../../../host/folder-creation.ts'
import { makeHasher } from '../../../host/hasher.ts'
import { lazyFile } from '../../../host/lazy-file.ts'
import { isRunning } from '../../../host/process-status.ts'
import { readRegularFile } from '../../../host/regular-file.ts'
import { factsOf, sweep, receiveBlob, type ReceivedBlob } from './receive-blob.ts'
import { OWNER, putBy, type BlobStore } from './blobs.ts'

const READ_AHEAD = 512 * 1024

const ignoreMissing = (error: unknown): undefined => {
  if (errorCode(error) !== 'ENOENT') throw error
}

/** Layout of a store's folder and publishing of files. */
function makeLayout(folder: string) {
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  // Folders whose names are known to be durable.
  const known = new Set<string>()

  async function shelf(path: string): Promise<string> {
    const inner = dirname(path)
    if (known.has(inner)) return inner
    await makeFolder(inner, 0o700)
    await syncFolder(dirname(inner))
    await syncFolder(folder)
    known.add(inner)
    return inner
  }

  return {
    pathOf,
    /** Links a complete, flushed file to its name in the store; durable when it resolves. */
    async publish(from: string, sha256: string): Promise<void> {
      const path = pathOf(sha256)
      const inner = await shelf(path)
      for (;;) {
        try {
          await link(from, path)
          break
        } catch (error) {
          if (errorCode(error) !== 'EEXIST') throw error
        }
        // It exists: update its age. If the collector is removing it at this moment, link again.
        try {
          const now = new Date()
          await utimes(path, now, now)
          break
        } catch (error) {
          if (errorCode(error) !== 'ENOENT') throw error
        }
      }
      // Also if the content existed: whoever linked it may not have flushed the folder yet.
      await syncFolder(inner)
    },
  }
}

/** Contents that this process is about to remove. */
const removing = new Set<string>()

const ASIDE = /^([0-9a-f]{64})\.(\d+)\.[0-9a-f]{8}$/

/** Longest removal by a process that seems to run: in containers another process may have its PID. */
const REMOVAL = MINUTE

async function isAbandoned(path: string, name: string, pid: number): Promise<boolean> {
  if (pid === process.pid) return !removing.has(name)
  const found = await factsOf(path)
  return found !== undefined && (!isRunning(pid) || found.ctimeMs < Date.now() - REMOVAL)
}

/** Publishes again what a killed process moved aside for removal: an upload may have renewed it just before. */
async function restoreRemoved(
  temporary: string,
  publish: (from: string, sha256: string) => Promise<void>,
): Promise<void> {
  for await (const { name } of await opendir(temporary)) {
    const [, sha256, pid] = ASIDE.exec(name) ?? []
    const path = join(temporary, name)
    if (sha256 === undefined || !(await isAbandoned(path, name, Number(pid)))) continue
    // Another process may do the same.
    await publish(path, sha256)
      .then(() => unlink(path))
      .catch(ignoreMissing)
  }
}

/**
 * A blob store in a folder: `ab/cd/<sha256>`, and `tmp` for arriving contents. A content becomes visible by a hard link
 * to its complete, flushed temporary file, and its folder is flushed before `publish` resolves.
 */
export async function openDisk(folder: string): Promise<BlobStore> {
  const temporary = join(folder, 'tmp')
  const marker = join(folder, OWNER)
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  await sweep(temporary)
  const { pathOf, publish } = makeLayout(folder)
  const hasher = makeHasher()
  await restoreRemoved(temporary, publish)

  async function keep({ name, file, sha256 }: ReceivedBlob): Promise<void> {
    // Time spent waiting after the last byte does not count for its age.
    const now = new Date()
    await file.utimes(now, now)
    await file.sync()
    try {
      await publish(name, sha256)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || (await factsOf(name))) throw error
      throw new Busy('The received content was removed in the meantime. Send it again.', { cause: error })
    }
  }

  const receive: BlobStore['receive'] = (source, max) => receiveBlob(source, max, { folder: temporary, hasher }, keep)

  return {
    receive,
    put: putBy(receive),

    // An error stays in the stream for the reader; without a listener it would end the process.
    read: (sha256, range) =>
      lazyFile(pathOf(sha256), { ...range, highWaterMark: READ_AHEAD }).on('error', () => undefined),

    async save(sha256, file) {
      const path = pathOf(sha256)
      try {
        await copyFile(path, file, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
        return true
      } catch (error) {
        if (errorCode(error) === 'ENOENT' && !(await factsOf(path))) return false
        throw fromSystemError(error, file)
      }
    },

    has: (sha256) =>
      stat(pathOf(sha256)).then(
        () => true,
        () => false,
      ),

    size: async (sha256) => (await factsOf(pathOf(sha256)))?.size,

    async remove(sha256, before) {
      const path = pathOf(sha256)
      const name = `${sha256}.${process.pid}.${randomHex(4)}`
      const aside = join(temporary, name)
      removing.add(name)
      try {
        // Move it aside first, then check: a concurrent put finds the name free and links its own file.
        if ((await stat(path)).mtimeMs >= before) return false
        await rename(path, aside)
        const isYoung = (await stat(aside)).mtimeMs >= before
        if (isYoung) await publish(aside, sha256)
        await unlink(aside)
        return !isYoung
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return false
        throw error
      } finally {
        removing.delete(name)
      }
    },

    async *list() {
      await restoreRemoved(temporary, publish)
      for await (const outer of await opendir(folder)) {
        if (!/^[0-9a-f]{2}$/.test(outer.name)) continue
        for await (const inner of await opendir(join(folder, outer.name))) {
          for await (const { name: sha256 } of await opendir(join(folder, outer.name, inner.name))) {
            const found = await factsOf(join(folder, outer.name, inner.name, sha256))
            if (found) yield { sha256, size: found.size, touched: found.mtimeMs }
          }
        }
      }
    },

    owner: () => readRegularFile(marker).then((text) => text.trim(), ignoreMissing),
    claim: (owner) => writeDurably(marker, `${owner}\n`),

    async check() {
      await stat(temporary)
    },

    close: () => hasher.close(),
  }
}
