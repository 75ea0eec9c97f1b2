import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../../host/durable-files.ts'
import { DamagedBackup } from './backup-manifest.ts'
import { openBytes } from './file-bytes.ts'
import { isBucket, within } from './repository-path.ts'
import {
  bytesOf,
  chapterFolder,
  chaptersIn,
  contextOf,
  hasBase,
  NO_TAG,
  openPart,
  partsOf,
  recordsIn,
  type Chapter,
} from './stream-files.ts'
import { FILE_HEADER, TAG } from './stream-record.ts'

/** How many chapters before a new one it names the ends of: some may have been given up. */
const MAX_CHAPTERS = 4

/**
 * The last tags of the newest chapters, by name and in hex, other than that of `without`, which is being written. Removes the part
 * of a record that a killed process left, so that whatever follows the last record from now on is damage.
 */
export async function endChapters(
  folder: string,
  key: Uint8Array | undefined,
  without: Chapter | undefined,
): Promise<Record<string, string>> {
  const ends: Record<string, string> = {}
  let left = MAX_CHAPTERS
  for (const chapter of (await chaptersIn(folder)).reverse()) {
    if (chapter.name === without?.name || !(await hasBase(folder, chapter))) continue
    const tag = await endOf(folder, chapter, key).catch((error: unknown) => {
      // Its damage is found whenever it is read.
      if (error instanceof DamagedBackup) return undefined
      throw error
    })
    if (tag) ends[chapter.name] = tag.toString('hex')
    left -= 1
    if (left === 0) break
  }
  return ends
}

async function endOf(folder: string, chapter: Chapter, key: Uint8Array | undefined): Promise<Buffer> {
  const place = chapterFolder(folder, chapter)
  const parts = await partsOf(place)
  const last = parts.at(-1)
  const paths = parts.map((part) => within(place, part))
  // An object appears whole.
  if (last === undefined || isBucket(folder)) return lastTag(paths)
  const opening = { key, context: contextOf(chapter, last), previous: await lastTag(paths.slice(0, -1)) }
  return endPart(within(place, last), opening)
}

/** The last tag in these files, which are complete. */
async function lastTag(paths: readonly string[]): Promise<Buffer> {
  for (const path of [...paths].reverse()) {
    const file = await openBytes(path)
    try {
      if (file.size >= FILE_HEADER + TAG) return await bytesOf(file, file.size - TAG, TAG)
    } finally {
      await file.close()
    }
  }
  return NO_TAG
}

/** Removes an incomplete record at the end of a file. Returns the last tag before it. */
async function endPart(path: string, opening: Parameters<typeof openPart>[1] & { previous: Buffer }): Promise<Buffer> {
  let { previous: tag } = opening
  let kept = 0
  const file = await openBytes(path)
  try {
    const opener = await openPart(file, opening)
    if (opener) {
      kept = FILE_HEADER
      for await (const record of recordsIn(file, opener, true)) {
        kept = record.end
        tag = record.tag
      }
    }
    // Without their tag, a changed length cannot be told from an incomplete record.
    if (kept === file.size || opener?.hasSealedLengths === false) return tag
  } finally {
    await file.close()
  }
  await removeAfter(path, kept)
  return tag
}

async function removeAfter(path: string, size: number): Promise<void> {
  if (size === 0) {
    await rm(path)
    return syncFolder(dirname(path))
  }
  const file = await open(path, 'r+')
  try {
    await file.truncate(size)
    await file.sync()
  } finally {
    await file.close()
  }
}
