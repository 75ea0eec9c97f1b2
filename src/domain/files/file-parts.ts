import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { Heavy } from '../heavy.ts'
import type { Allowance } from './allowance.ts'
import type { Bounds } from './bounds.ts'
import type { History } from './history.ts'
import type { PathResolver } from './path-resolver.ts'
import type { TreeJobs } from './tree-jobs.ts'
import type { Tree } from './tree.ts'
import type { UploadAccounting } from './upload-accounting.ts'

export interface Jobs extends Pick<TreeJobs, 'settle' | 'soon'> {
  /** Like `settle`, after a commit: never rejects, and tries again soon, because the change is done. */
  finish(user: number): Promise<void>
}

/** What the operations on files share; each names what it uses. */
export interface FileParts {
  database: Database
  /** The database without the caller's authority check, for background jobs. */
  unattended: Database
  contents: Contents
  clock: Clock
  tree: Tree
  reach: PathResolver
  /** The current limits. */
  allowance: () => Promise<Allowance>
  bounds: Bounds
  heavy: Heavy
  jobs: Jobs
  history: Pick<History, 'trim' | 'trimIfDue'>
  flights: UploadAccounting
}
