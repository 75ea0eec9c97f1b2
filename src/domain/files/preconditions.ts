import { fault } from '../../contract/errors.ts'
import type { Node } from '../../storage/files/nodes.ts'

export interface Expectation {
  /** The file has this content. */
  sha256?: string | undefined
  /** Nothing exists at the path. */
  absent?: boolean | undefined
}

/** Checks a precondition inside the transaction of the change: fault `precondition_failed` with `current`. */
export function expect(node: Node | undefined, { sha256, absent }: Expectation): void {
  const met = (!absent || !node) && (sha256 === undefined || node?.sha256 === sha256)
  if (met) return
  const current =
    node?.type === 'file' ? { sha256: node.sha256, size: node.size, mtime: node.mtime, version: node.version } : null
  throw fault('precondition_failed', { fields: { current } })
}
