import { fault } from '../../contract/errors.ts'
import type { Node } from '../../storage/files/nodes.ts'

/** What the caller believes about a file; a change happens only when it is so. */
export interface Expectation {
  /** The file has this content. */
  sha256?: string | undefined
  /** There is nothing at the path. */
  absent?: boolean | undefined
}

/** Compares an expectation with what is there, inside the transaction that changes it: fault `precondition_failed` with `current`. */
export function expect(node: Node | undefined, { sha256, absent }: Expectation): void {
  const met = (!absent || !node) && (sha256 === undefined || node?.sha256 === sha256)
  if (met) return
  const current =
    node?.type === 'file' ? { sha256: node.sha256, size: node.size, mtime: node.mtime, version: node.version } : null
  throw fault('precondition_failed', { fields: { current } })
}
