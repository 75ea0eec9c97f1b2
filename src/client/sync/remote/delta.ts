import { knownTime } from '../../files/modification-time.ts'
import type { Listed } from './manifest.ts'
import type { FeedNode, FeedPage } from '../state/remote-memory.ts'
import { childOf, isCount, ROOT } from '../plan/sync-tree.ts'
import { isSafePath, nameProblem } from '../../files/path-rules.ts'

export const FILES = 'svc_files'

/** The change feed is invalid: the manifest is requested instead. */
export class InvalidResponse extends Error {
  override name = 'Unsound'
}

const isId = (value: unknown): value is number => isCount(value) && value > 0

/** A validated row of `svc_files`. Throws `InvalidResponse`. */
export function toNode(row: unknown): FeedNode {
  const { id, parent_id: parent = null, name, type, size, sha256, mtime } = (row ?? {}) as Record<string, unknown>
  const named = isId(id) && (parent === null || isId(parent)) && typeof name === 'string' && !nameProblem(name)
  if (!named || id === parent) throw new InvalidResponse(`row ${String(id)}`)
  if (type === 'directory') return { id, parent, name, sha256: null, size: 0, mtime: 0 }
  const sound = type === 'file' && isCount(size) && typeof sha256 === 'string'
  if (!sound || !/^[0-9a-f]{64}$/.test(sha256)) throw new InvalidResponse(`row ${id}`)
  return { id, parent, name, sha256, size, mtime: knownTime(mtime) ?? 0 }
}

/** Validates a page of `delta`. File changes up to `known` are dropped. Throws `InvalidResponse`. */
export function readPage(
  document: Record<string, unknown>,
  after: number,
  known = after,
): FeedPage & { more: boolean; files: boolean; epoch: unknown; server_id: unknown } {
  const { changes, cursor, has_more: more, epoch, server_id } = document
  if (!Array.isArray(changes) || !isCount(cursor) || typeof more !== 'boolean') throw new InvalidResponse('page')
  if (cursor < after || (more && cursor === after)) throw new InvalidResponse('cursor')
  // The last state of each row; a row should occur once, but nothing relies on it.
  const last = new Map<number, FeedNode | undefined>()
  for (const change of changes as unknown[]) {
    const { table, operation, data, cursor: at } = (change ?? {}) as Record<string, unknown>
    if (table !== FILES || (known > after && isCount(at) && at <= known)) continue
    if (operation === 'DELETE') {
      const id = (data as { id?: unknown } | null)?.id
      if (!isId(id)) throw new InvalidResponse('deletion')
      last.set(id, undefined)
    } else if (operation === 'INSERT' || operation === 'UPDATE') {
      const node = toNode(data)
      last.set(node.id, node)
    } else throw new InvalidResponse('operation')
  }
  const put = [...last.values()].filter((node) => node !== undefined)
  const gone = [...last].flatMap(([id, node]) => (node ? [] : [id]))
  return { put, gone, cursor, more, files: last.size > 0, epoch, server_id }
}

/** Nodes with their paths, parents first. Throws `InvalidResponse` for duplicate or unsafe paths and missing parents. */
export function toListing(nodes: Iterable<FeedNode>): Listed[] {
  const children = new Map<number | null, FeedNode[]>()
  let count = 0
  for (const node of nodes) {
    count += 1
    const siblings = children.get(node.parent)
    if (siblings) siblings.push(node)
    else children.set(node.parent, [node])
  }
  const listed: Listed[] = []
  const waiting: { id: number | null; path: string }[] = [{ id: null, path: ROOT }]
  for (let folder = waiting.pop(); folder; folder = waiting.pop()) {
    const names = new Set<string>()
    for (const { id, name, sha256, size, mtime } of children.get(folder.id) ?? []) {
      const path = childOf(folder.path, name)
      if (names.has(name) || !isSafePath(path)) throw new InvalidResponse(path)
      names.add(name)
      if (sha256 === null) {
        listed.push({ kind: 'dir', path })
        waiting.push({ id, path })
      } else listed.push({ kind: 'file', path, sha256, size, mtime })
    }
  }
  // The rest has no parent, is inside a file, or forms a cycle.
  if (listed.length !== count) throw new InvalidResponse('parent')
  return listed
}
