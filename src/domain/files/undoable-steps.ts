import { fault } from '../../contract/errors.ts'
import type { Staged } from '../../storage/contents/contents.ts'
import type { Writer } from '../../storage/engine/database.ts'
import type { Node } from '../../storage/files/nodes.ts'
import { addressesOf, type Change } from './change.ts'
import type { makeCopy } from './copy.ts'
import { EMPTY, type FileChange, type PathLookup, type StoredContent } from './file-change.ts'
import { pathOf, segmentsOf } from './paths.ts'
import type { PathResolver } from './path-resolver.ts'
import type { Bounds } from './bounds.ts'
import type { Tree } from './tree.ts'
import { quotaOf, type Allowance } from './allowance.ts'
import type { Write } from './write.ts'

export interface StepParts {
  tree: Tree
  reach: PathResolver
  allowance: () => Promise<Allowance>
  bounds: Bounds
  desktop: Pick<Change, 'makeFolderIn' | 'moveIn' | 'discardIn'> &
    Pick<Write, 'writeIn'> &
    Pick<ReturnType<typeof makeCopy>, 'copyIn'>
}

const contentOf = ({ sha256, size, mtime }: Node): StoredContent => ({ sha256: sha256!, size, mtime })

/** Changes of trees that return what they changed, each a step of a transaction. */
export function makeSteps({ tree, reach, allowance, desktop }: StepParts, { lookUp, made }: PathLookup) {
  /** Paths of missing parents, topmost first. */
  async function missingAbove(tx: Writer, user: number, path: string): Promise<string[]> {
    const spot = await reach.resolve(tx, user, reach.parse(path))
    const segments = segmentsOf(path)
    const depth = segments.length - spot.segments.length
    for (let length = 1; length < spot.segments.length; length += 1) {
      if (await tree.find(tx, { ...spot, segments: spot.segments.slice(0, length) })) continue
      return Array.from({ length: spot.segments.length - length }, (_, more) =>
        pathOf(segments.slice(0, depth + length + more)),
      )
    }
    return []
  }

  async function withParents(tx: Writer, user: number, path: string, step: () => Promise<FileChange[]>) {
    const missing = await missingAbove(tx, user, path)
    const own = await step()
    const folders: FileChange[] = []
    // Their state when created: empty.
    for (const folder of missing) {
      const { node } = await lookUp(tx, user, folder)
      folders.push({ kind: 'made', path: folder, node: node!.id, mark: EMPTY })
    }
    return [...folders, ...own]
  }

  return {
    /** Writes a received content to a path; with `absent` only if nothing exists. */
    write: (tx: Writer, user: number, path: string, staged: Staged, absent: boolean): Promise<FileChange[]> =>
      withParents(tx, user, path, async () => {
        const { node: before } = await lookUp(tx, user, path)
        if (absent && before) throw fault('exists')
        const quota = await quotaOf(tx, user, allowance)
        await desktop.writeIn(tx, user, reach.parse(path), { staged }, quota)
        if (!before) return [await made(tx, user, path)]
        const { node: after } = await lookUp(tx, user, path)
        if (after!.version === before.version) return []
        const { id: node } = before
        return [{ kind: 'written', path, node, before: contentOf(before), after: contentOf(after!) }]
      }),

    makeFolder: (tx: Writer, user: number, path: string): Promise<FileChange[]> =>
      withParents(tx, user, path, async () =>
        (await desktop.makeFolderIn(tx, user, reach.parse(path))) ? [await made(tx, user, path)] : [],
      ),

    async move(tx: Writer, user: number, from: string, to: string): Promise<FileChange[]> {
      const addresses = addressesOf(reach, from, to)
      return withParents(tx, user, to, async () => {
        await desktop.moveIn(tx, user, ...addresses, {})
        const { node } = await lookUp(tx, user, to)
        return [{ kind: 'moved', from, path: to, node: node!.id }]
      })
    },

    async copy(tx: Writer, user: number, from: string, to: string): Promise<FileChange[]> {
      const addresses = addressesOf(reach, from, to)
      return withParents(tx, user, to, async () => {
        await desktop.copyIn(tx, user, ...addresses, await quotaOf(tx, user, allowance))
        return [await made(tx, user, to)]
      })
    },

    /** Moves a file or folder to the trash. Fault `not_found`. */
    async trash(tx: Writer, user: number, path: string): Promise<FileChange[]> {
      const { node } = await lookUp(tx, user, path)
      const entry = await desktop.discardIn(tx, user, reach.parse(path, 'thing'))
      if (!node || entry === undefined) throw fault('not_found')
      return [{ kind: 'trashed', path, node: node.id, entry }]
    },
  }
}
