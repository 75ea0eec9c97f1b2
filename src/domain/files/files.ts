import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database } from '../../storage/engine/database.ts'
import { makeHeavy } from '../heavy.ts'
import { makeBatches } from './batches.ts'
import { makeBounds } from './bounds.ts'
import { makeBrowse } from './browse.ts'
import { makeChange } from './change.ts'
import { makeCopy } from './copy.ts'
import { makeHistory } from './history.ts'
import { makeLook } from './look.ts'
import { makeNoted } from './noted.ts'
import { makePack } from './pack.ts'
import { ownReach, wholeReach } from './reach.ts'
import { makeTrash } from './trash.ts'
import { makeTreeJobs } from './tree-jobs.ts'
import { makeTree } from './tree.ts'
import { makeVersions } from './versions.ts'
import { makeFlights } from './flights.ts'
import type { Allowance } from './allowance.ts'
import { makeWrite } from './write.ts'

export type { FileEntry } from './batches.ts'
export { beginHandOver, handOverExtent, handOverFolder, type Handover } from './hand-over.ts'
export type { History } from './history.ts'
export type { FileFacts } from './look.ts'
export { mimeOf } from './mime.ts'
export { isFileChange, type FileChange } from './file-change.ts'
export { isOfRooms, nameKey, ownSegments, segmentsOf } from './paths.ts'

export { segmentOf } from './rooms.ts'
export { walkOwnTree, walkRoom, type Walked } from './walk.ts'

interface Parts {
  database: Database
  /** The same, for work that was decided and goes on whoever began it. */
  unattended: Database
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
  const heavy = makeHeavy()
  const bounds = makeBounds(parts)
  const tree = makeTree(parts.database, bounds)
  const treeJobs = makeTreeJobs({ ...parts, database: parts.unattended, heavy })
  const history = makeHistory({ ...parts, database: parts.unattended, jobs: treeJobs })
  const jobs = {
    soon: treeJobs.soon,
    /** Finishes what the account has begun, and removes what its history holds too much. */
    async settle(user: number): Promise<void> {
      await treeJobs.settle(user)
      await history.trim(user)
    },
  }
  const shared = { ...parts, tree, bounds, heavy, jobs, history, flights: makeFlights() }
  const own = { ...shared, reach: ownReach(tree) }
  const whole = { ...shared, reach: wholeReach(tree) }
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
    history,
    /** For work beside that on trees: their slices are done one after the other, whoever they belong to. */
    slice: heavy.patientSlice,
    settleTrees: treeJobs.settle,
    /** Finishes what a crash, or another process, left unfinished. */
    resume: treeJobs.settleAll,
    /** Leaves what is unfinished to the next start. */
    close: heavy.close,
  }
}

export type Files = ReturnType<typeof makeFiles>
