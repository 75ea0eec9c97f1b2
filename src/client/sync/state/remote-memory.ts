import type { SqliteFile } from '../../../host/sqlite-file.ts'
import type { BaseNode, FileState, RemoteNode } from '../plan/sync-tree.ts'

/** The listing of the server that an ETag identifies. */
export interface Remembered {
  etag: string
  cursor: number
  nodes: Iterable<RemoteNode>
}

/** A file or, without `sha256`, a folder of the change feed; top-level nodes have no parent. */
export interface FeedNode {
  id: number
  parent: number | null
  name: string
  sha256: string | null
  size: number
  mtime: number
}

export interface FeedPage {
  put: readonly FeedNode[]
  gone: readonly number[]
  cursor: number
}

/** The remembered files of the account: a listing by paths, or the nodes of the feed, never both. */
export interface RemoteMemory {
  /** Which of the two it is, and its cursor; undefined if nothing is remembered. */
  known(): { as: 'nodes' | 'listing'; cursor: number } | undefined
  /** Nodes are read lazily; no other query may run before the last one is read. */
  remembered(): Remembered | undefined
  remember(listing: Remembered): void
  /** The listing has not changed up to this cursor. */
  confirm(cursor: number): void
  /** All nodes and their cursor, undefined if unknown. */
  nodes(): Iterable<FeedNode> | undefined
  /** Replaces everything. */
  begin(nodes: readonly FeedNode[], cursor: number): void
  /** Applies a page with its cursor. */
  learn(page: FeedPage): void
  forgetRemote(): void
}

export const REMOTE_SCHEMA = `
  create table if not exists remote (
    path text primary key, sha256 text, size integer, mtime integer
  ) strict, without rowid;
  create table if not exists nodes (
    id integer primary key, parent integer, name text not null, sha256 text, size integer not null, mtime integer not null
  ) strict;
`

interface FileRow {
  sha256: string | null
  size: number
  mtime: number
}

export const toNode = (path: string, { sha256, size, mtime }: FileRow): BaseNode =>
  sha256 === null ? { kind: 'dir', path } : { kind: 'file', path, sha256, size, mtime }

export const valuesOf = (node: FileState | { kind: string }): [string | null, number | null, number | null] =>
  'sha256' in node ? [node.sha256, node.size, node.mtime] : [null, null, null]

interface Facts {
  get<T>(name: string): T | undefined
  set(name: string, value: unknown): void
}

export function makeRemoteMemory(db: SqliteFile, facts: Facts): RemoteMemory {
  function forget(): void {
    for (const table of ['remote', 'nodes']) db.run(`delete from ${table}`)
    db.run(`delete from facts where name in ('manifest', 'feed')`)
  }

  function* listed(): Generator<RemoteNode> {
    for (const row of db.each<FileRow & { path: string }>('select * from remote')) yield toNode(row.path, row)
  }

  const put = ({ id, parent, name, sha256, size, mtime }: FeedNode): void =>
    db.run('insert or replace into nodes values (?, ?, ?, ?, ?, ?)', id, parent, name, sha256, size, mtime)

  return {
    known() {
      const feed = facts.get<{ cursor: number }>('feed')
      if (feed) return { as: 'nodes', cursor: feed.cursor }
      const tag = facts.get<{ cursor: number }>('manifest')
      return tag && { as: 'listing', cursor: tag.cursor }
    },
    remembered() {
      const tag = facts.get<{ etag: string; cursor: number }>('manifest')
      return tag && { ...tag, nodes: { [Symbol.iterator]: listed } }
    },
    remember({ etag, cursor, nodes }) {
      db.transaction(() => {
        forget()
        for (const node of nodes) db.run('insert into remote values (?, ?, ?, ?)', node.path, ...valuesOf(node))
        facts.set('manifest', { etag, cursor })
      })
    },
    confirm(cursor) {
      const tag = facts.get<{ etag: string }>('manifest')
      if (tag) facts.set('manifest', { etag: tag.etag, cursor })
    },
    nodes: () => (facts.get('feed') ? db.each<FeedNode>('select * from nodes') : undefined),
    begin(nodes, cursor) {
      db.transaction(() => {
        forget()
        nodes.forEach(put)
        facts.set('feed', { cursor })
      })
    },
    learn(page) {
      db.transaction(() => {
        page.put.forEach(put)
        for (const id of page.gone) db.run('delete from nodes where id = ?', id)
        facts.set('feed', { cursor: page.cursor })
      })
    },
    forgetRemote: () => db.transaction(forget),
  }
}
