import { createHash } from 'node:crypto'
import {
  emptyTree,
  keyOf,
  parentOf,
  ROOT,
  type BaseNode,
  type BaseTree,
  type Identity,
  type LocalNode,
  type RemoteNode,
  type Tree,
} from '../../../src/client/sync/plan/sync-tree.ts'

/** A side of a synchronisation in a test's own words: paths to contents; null is a folder. */
export type Side = Record<string, string | null>

export const sha256Of = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

const MTIME = 1_700_000_000

const identityOf = (content: string, mtime = MTIME): Identity => ({
  size: Buffer.byteLength(content),
  mtimeNs: BigInt(mtime) * 1_000_000_000n,
  ctimeNs: 0n,
  ino: 1n,
})

/** Adds the folders that paths lie in. */
export function withFolders(side: Side): Side {
  const whole: Side = { ...side }
  for (const path of Object.keys(side)) {
    for (let at = parentOf(path); at !== ROOT; at = parentOf(at)) whole[at] ??= null
  }
  return whole
}

const fileOf = (content: string, mtime = MTIME) => ({
  kind: 'file' as const,
  sha256: sha256Of(content),
  size: Buffer.byteLength(content),
  mtime,
})

export function localTree(side: Side, fold = false): Tree<LocalNode> {
  const tree = emptyTree<LocalNode>()
  for (const [path, content] of Object.entries(withFolders(side))) {
    tree.nodes.set(
      keyOf(path, fold),
      content === null
        ? { kind: 'dir', path }
        : { kind: 'file', path, id: identityOf(content), sha256: sha256Of(content), blank: /^\0*$/.test(content) },
    )
  }
  return tree
}

export function remoteTree(side: Side, fold = false): Tree<RemoteNode> {
  const tree = emptyTree<RemoteNode>()
  for (const [path, content] of Object.entries(withFolders(side))) {
    tree.nodes.set(keyOf(path, fold), content === null ? { kind: 'dir', path } : { path, ...fileOf(content) })
  }
  return tree
}

export function baseTree(side: Side, fold = false): BaseTree {
  const nodes = Object.entries(withFolders(side)).map(([path, content]): [string, BaseNode] => [
    keyOf(path, fold),
    content === null ? { kind: 'dir', path } : { path, ...fileOf(content) },
  ])
  return new Map(nodes)
}
