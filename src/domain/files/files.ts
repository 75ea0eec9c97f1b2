import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents.ts'
import type { Database } from '../../storage/database.ts'
import { makeChange } from './change.ts'
import { makeLook } from './look.ts'
import { mimeOf } from './mime.ts'
import { makeTree } from './tree.ts'
import { makeWrite, type Allowance } from './write.ts'

interface Parts {
  database: Database
  contents: Contents
  clock: Clock
  /** What the service allows at this moment. */
  allowance: () => Promise<Allowance>
  /** Tells waiting requests that an account's feed moved. */
  announce: (user: number) => void
}

/** The files of accounts: a tree of rows over immutable contents. */
export function makeFiles(parts: Parts) {
  const tree = makeTree(parts.database)
  return {
    ...makeLook({ ...parts, tree, mimeOf }),
    ...makeWrite({ ...parts, tree }),
    ...makeChange({ ...parts, tree }),
  }
}

export type Files = ReturnType<typeof makeFiles>
