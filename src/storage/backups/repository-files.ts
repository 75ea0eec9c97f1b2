import { rm } from 'node:fs/promises'
import { streamDurably, writeDurably } from '../../host/durable-files.ts'
import { putBytes, putNewObject, removeBelow, removeObjects } from './bucket.ts'
import { bytesAtHand } from './object-pool.ts'
import { isBucket } from './repository-path.ts'

// Small files of a repository, in a folder or a bucket.

/** Stores a file, durable when it resolves. Throws EEXIST if there is one. */
export const storeNew = (path: string, content: Uint8Array): Promise<void> =>
  isBucket(path)
    ? putNewObject(path, content)
    : streamDurably(path, bytesAtHand(content).read(), { replace: false, mode: 0o600 })

/** Stores a file, in place of one that has its name. */
export const replaceStored = (path: string, content: Uint8Array): Promise<void> =>
  isBucket(path) ? putBytes(path, content) : writeDurably(path, content)

/** Removes files that may be missing. Throws `RemovalDenied`. */
export async function removeStored(paths: readonly string[]): Promise<void> {
  const [first] = paths
  if (first !== undefined && isBucket(first)) return removeObjects(paths)
  for (const path of paths) await rm(path, { force: true })
}

/** Removes a folder with everything in it. Throws `RemovalDenied`. */
export const removeStoredFolder = (path: string): Promise<void> =>
  isBucket(path) ? removeBelow(path) : rm(path, { recursive: true, force: true })
