import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database } from '../../storage/engine/database.ts'
import { makeHeavy } from '../heavy.ts'
import { makeBatches } from './batches.ts'
import { makeBounds } from './bounds.ts'
import { makeBrowse } from './browse.ts'
import { makeChange } from './change.ts'
import { makeCopy } from './copy.ts'
import type { Jobs } from './file-parts.ts'
import { makeHistory } from './history.ts'
import { makeQueries } from './queries.ts'
import { makeUndoableChanges } from './undoable-changes.ts'
import { makePack } from './pack.ts'
import { makePhotos } from './photos.ts'
import { ownPathResolver, pathResolver } from './path-resolver.ts'
import { makeTrash } from './trash.ts'
import { makeTreeJobs } from './tree-jobs.ts'
import { makeTree } from './tree.ts'
import { makeVersions } from './versions.ts'
import { makeUploadAccounting } from './upload-accounting.ts'
import type { Allowance } from './allowance.ts'
import { makeWrite } from './write.ts'

export type { FileEntry } from './batches.ts'
export { beginHandOver, handOverExtent, handOverFolder, type Handover } from './hand-over.ts'
export type { History } from './history.ts'
export type { FileFacts } from './queries.ts'
export { mimeOf } from './mime.ts'
export { isFileChange, type FileChange } from './file-change.ts'
export { isOfRooms, nameKey, ownSegments, segmentsOf, TEAMCHAT } from './paths.ts'

export { makeThumbnails, type Thumbnails } from './thumbnails.ts'
export { contentBytes, utf8Text } from './content-bytes.ts'
export { roomFolders, segmentOf } from './room-folders.ts'
export { walkOwnTree, walkRoom, type TreeEntry } from './walk-tree.ts'

interface Parts {
  database: Database
  /** The database without the caller's authority check, for background jobs. */
  unattended: Database
  contents: Contents
  clock: Clock
  /** The current limits. */
  allowance: () => Promise<Allowance>
}

/**
 * The files of accounts and of chat rooms: trees of rows over immutable contents. Devices synchronise the account's own
 * tree; the desktop sees that one and, below `/Teamchat`, those of the account's rooms.
 */
export function makeFiles(parts: Parts) {
  const heavy = makeHeavy()
  const bounds = makeBounds(parts)
  const tree = makeTree(parts.database, bounds)
  const treeJobs = makeTreeJobs({ ...parts, database: parts.unattended, heavy })
  const history = makeHistory({ ...parts, database: parts.unattended, jobs: treeJobs })
  const jobs: Jobs = {
    soon: treeJobs.soon,
    async settle(user: number): Promise<void> {
      await treeJobs.settle(user)
      await history.trim(user)
    },
    async finish(user: number): Promise<void> {
      await jobs.settle(user).catch(() => treeJobs.soon(user))
    },
  }
  const shared = { ...parts, tree, bounds, heavy, jobs, history, flights: makeUploadAccounting() }
  const own = { ...shared, reach: ownPathResolver(tree) }
  const whole = { ...shared, reach: pathResolver(tree) }
  const write = makeWrite(own)
  const change = makeChange(own)
  const desktop = {
    ...makeBrowse(whole),
    ...makeWrite(whole),
    ...makeChange(whole),
    ...makeCopy(whole),
    ...makePack(whole),
  }
  const trash = makeTrash(whole)
  return {
    ...makeQueries(own),
    ...write,
    ...change,
    ...makeBatches({ ...own, write, change }),
    desktop,
    photos: makePhotos(own),
    trash,
    undoable: makeUndoableChanges({ ...whole, desktop, trash }),
    versions: makeVersions(whole),
    history,
    /** Runs a slice of other background work; all slices are serialised. */
    slice: heavy.patientSlice,
    settleTrees: treeJobs.settle,
    /** Finishes jobs that a crash or another process left behind. */
    resume: treeJobs.settleAll,
    /** Stops after the current slice; the next start resumes. */
    close: heavy.close,
  }
}

export type Files = ReturnType<typeof makeFiles>
