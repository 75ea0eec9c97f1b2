import type { TableName } from '../../contract/tables.ts'
import type { TreeEntry } from '../files/files.ts'
import { tableNames, type AccountState, type RowState } from './account-state.ts'

export interface Replacement {
  old: TreeEntry
  /** The content that it replaces. */
  sha256: string
  growth: number
}

export interface TableDifference {
  /** Rows to insert, by their former id. */
  restored: number[]
  /** Rows to change, with their present version. */
  replaced: { id: number; version: number }[]
  removed: { id: number; version: number }[]
}

/** What turns the present state of an account into an older one. */
export interface Difference {
  /** Files and folders to create; folders before their contents. */
  restored: TreeEntry[]
  replaced: Replacement[]
  /** Files and folders to delete, except those inside removed folders. */
  removed: TreeEntry[]
  /** Files and folders inside removed folders; folders before their contents. */
  removedInside: TreeEntry[]
  rows: Map<TableName, TableDifference>
}

export const isFolder = ({ sha256 }: TreeEntry): boolean => sha256 === null

/** Sorted by path, so that folders precede their contents. */
const byKey = (tree: AccountState['tree']) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1))

/** Whether a folder above a path is in `folders`. */
function isBelow(key: string, folders: ReadonlySet<string>): boolean {
  for (let slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1))
    if (folders.has(key.slice(0, slash))) return true
  return false
}

function treeDifference(old: AccountState['tree'], present: AccountState['tree']) {
  const restored: TreeEntry[] = []
  const replaced: Replacement[] = []
  const removed: TreeEntry[] = []
  const removedInside: TreeEntry[] = []
  const removedFolders = new Set<string>()
  for (const [key, now] of byKey(present)) {
    const then = old.get(key)
    if (then && isFolder(then) === isFolder(now)) {
      if (then.sha256 !== null && then.sha256 !== now.sha256)
        replaced.push({ old: then, sha256: now.sha256!, growth: then.size - now.size })
      continue
    }
    if (isBelow(key, removedFolders)) removedInside.push(now)
    else {
      removed.push(now)
      if (isFolder(now)) removedFolders.add(key)
    }
  }
  for (const [key, then] of byKey(old)) {
    const now = present.get(key)
    if (!now || isFolder(then) !== isFolder(now)) restored.push(then)
  }
  return { restored, replaced, removed, removedInside }
}

/** Pairs rows of equal values that have another id, for example since an earlier rewind: they stay as they are. */
function withoutMoved({ restored, replaced, removed }: TableDifference, hashes: [RowStates, RowStates]) {
  const [old, present] = hashes
  const equal = new Map<string, TableDifference['removed']>()
  for (const row of removed) {
    const { hash } = present.get(row.id)!
    const some = equal.get(hash)
    if (some) some.push(row)
    else equal.set(hash, [row])
  }
  const kept = new Set<number>()
  const missing = restored.filter((id) => {
    const match = equal.get(old.get(id)!.hash)?.pop()
    if (match) kept.add(match.id)
    return !match
  })
  return { restored: missing, replaced, removed: removed.filter(({ id }) => !kept.has(id)) }
}

type RowStates = ReadonlyMap<number, RowState>

function tableDifference(old: RowStates, present: RowStates): TableDifference {
  const restored = [...old.keys()].filter((id) => !present.has(id))
  const replaced: TableDifference['replaced'] = []
  const removed: TableDifference['removed'] = []
  for (const [id, { version, hash }] of present) {
    const then = old.get(id)
    if (!then) removed.push({ id, version })
    else if (then.hash !== hash) replaced.push({ id, version })
  }
  return withoutMoved({ restored, replaced, removed }, [old, present])
}

export const differenceOf = (old: AccountState, present: AccountState): Difference => ({
  ...treeDifference(old.tree, present.tree),
  rows: new Map(tableNames.map((table) => [table, tableDifference(old.rows.get(table)!, present.rows.get(table)!)])),
})

/** Bytes that the files of an account use. */
export const bytesOf = ({ tree }: AccountState): number => [...tree.values()].reduce((sum, { size }) => sum + size, 0)
