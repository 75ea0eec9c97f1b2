import { createHash } from 'node:crypto'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import { subtreeOf, type Node } from '../../storage/files/nodes.ts'
import type { PathResolver } from './path-resolver.ts'
import type { ResolvedPath, Tree } from './tree.ts'

export interface StoredContent {
  sha256: string
  size: number
  /** Seconds. */
  mtime: number
}

/** One change of a tree, with the data to undo it. Nodes keep their ids when they move. */
export type FileChange =
  /** A new file or folder; `mark` identifies its content at that time. */
  | { kind: 'made'; path: string; node: number; mark: string }
  | { kind: 'written'; path: string; node: number; before: StoredContent; after: StoredContent }
  | { kind: 'moved'; from: string; path: string; node: number }
  /** `entry` is the trash entry. */
  | { kind: 'trashed'; path: string; node: number; entry: number }

const KINDS: readonly string[] = ['made', 'written', 'moved', 'trashed'] satisfies FileChange['kind'][]

export const isFileChange = (change: { kind: string }): change is FileChange => KINDS.includes(change.kind)

/** Maximum number of nodes compared to detect a change of a folder. */
const MARKED_MAX = 20_000

/** The mark of a folder too large to compare: it counts as changed. */
export const TOO_LARGE_TO_COMPARE = 'too many'

/** Identifies a node's content: its hash, or a hash over the names and contents below it. */
export async function markOf(on: Reader, node: Node): Promise<string> {
  if (node.type === 'file') return node.sha256!
  const nodes = await subtreeOf(on, node.id, MARKED_MAX + 1)
  if (nodes.length > MARKED_MAX) return TOO_LARGE_TO_COMPARE
  const paths = new Map([[node.id, '']])
  const lines: string[] = []
  for (const { id, parent_id, name, type, sha256 } of nodes.slice(1)) {
    const path = `${paths.get(parent_id!)}/${name}`
    if (type === 'directory') paths.set(id, path)
    lines.push(`${path}\0${sha256 ?? ''}`)
  }
  return hashOf(lines)
}

const hashOf = (lines: string[]): string => createHash('sha256').update(lines.sort().join('\n')).digest('hex')

/** The mark of an empty folder. */
export const EMPTY = hashOf([])

export function makePathLookup({ tree, reach }: { tree: Tree; reach: PathResolver }) {
  async function lookUp(
    tx: Writer,
    user: number,
    path: string,
  ): Promise<{ spot: ResolvedPath; node: Node | undefined }> {
    const spot = await reach.resolve(tx, user, reach.parse(path, 'thing'))
    return { spot, node: await tree.find(tx, spot) }
  }

  async function made(tx: Writer, user: number, path: string): Promise<FileChange> {
    const { node } = await lookUp(tx, user, path)
    return { kind: 'made', path, node: node!.id, mark: await markOf(tx, node!) }
  }

  return { lookUp, made }
}

export type PathLookup = ReturnType<typeof makePathLookup>
