import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents.ts'
import type { Database } from '../../storage/database.ts'
import { makeBatches } from './batches.ts'
import { makeBrowse } from './browse.ts'
import { makeChange } from './change.ts'
import { makeCopy } from './copy.ts'
import { makeLook } from './look.ts'
import { makeNoted } from './noted.ts'
import { makePack } from './pack.ts'
import { ownReach, wholeReach } from './reach.ts'
import { makeTrash } from './trash.ts'
import { makeTree } from './tree.ts'
import { makeVersions } from './versions.ts'
import { makeWrite, type Allowance } from './write.ts'

export type { FileEntry } from './batches.ts'
export { handOverFiles, handOverFolder, type Handover } from './hand-over.ts'
export type { FileFacts } from './look.ts'
export { mimeOf } from './mime.ts'
export { isFileChange, type FileChange } from './file-change.ts'
export { nameKey, ownSegments, segmentsOf } from './paths.ts'

export { segmentOf } from './rooms.ts'
export { walkOwnTree, walkRoom, type Walked } from './walk.ts'

interface Parts {
  database: Database
  contents: Contents
  clock: Clock
  /** What the service allows at this moment. */
  allowance: () => Promise<Allowance>
}

/**
 * The files of accounts and of chat rooms: trees of rows over immutable contents. Devices synchronise the account's own
 * tree; the desktop sees that one and, below `/Teamchat`, those of the account's rooms.
 */
export function makeFiles(parts: Parts) {
  const tree = makeTree(parts.database)
  const own = { ...parts, tree, reach: ownReach(tree) }
  const whole = { ...parts, tree, reach: wholeReach(tree) }
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
    ...makeLook(own),
    ...write,
    ...change,
    ...makeBatches({ ...own, write, change }),
    desktop,
    trash,
    noted: makeNoted({ ...whole, desktop, trash }),
    versions: makeVersions(whole),
  }
}

export type Files = ReturnType<typeof makeFiles>
