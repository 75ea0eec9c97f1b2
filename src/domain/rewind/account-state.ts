import { hash } from 'node:crypto'
import { sortedEntries } from '../../base/sorted-entries.ts'
import { tables, type TableName } from '../../contract/tables.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { nameKey, walkOwnTree, type TreeEntry } from '../files/files.ts'
import { ownValues, rowsOf } from '../sync/sync.ts'

export interface RowState {
  version: number
  /** Hash of the values that the owner writes. */
  hash: string
}

/** The files, folders and rows of an account at one moment. */
export interface AccountState {
  /** By normalised path: names that differ only in Unicode form are one. */
  tree: Map<string, TreeEntry>
  rows: Map<TableName, Map<number, RowState>>
}

export const tableNames = Object.keys(tables) as TableName[]

const hashOf = (values: Record<string, unknown>): string =>
  hash('sha256', JSON.stringify(sortedEntries(values)), 'base64')

/** Reads the state of an account from a database, or from a copy. */
export async function accountStateOf(at: Reader, user: number): Promise<AccountState> {
  const tree = new Map<string, TreeEntry>()
  for await (const entry of walkOwnTree(at, user)) tree.set(nameKey(entry.path), entry)
  const rows: AccountState['rows'] = new Map()
  for (const table of tableNames) {
    const states = new Map<number, RowState>()
    for await (const row of rowsOf(at, user, table))
      states.set(row['id'] as number, { version: row['version'] as number, hash: hashOf(ownValues(row)) })
    rows.set(table, states)
  }
  return { tree, rows }
}
