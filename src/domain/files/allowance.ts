import { formatSize } from '../../base/sizes.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { ownQuota } from '../../storage/files/nodes.ts'

/** What the service allows, in bytes; -1 for no limit. */
export interface Allowance {
  /** The quota of accounts that have none of their own. */
  defaultQuota: number
  maxFileSize: number
  /** Milliseconds for which what was deleted or overwritten can be restored. */
  retention: number
  /** Most live files and folders of an account, and as many in its history. */
  maxNodes: number
  /** The share of its quota that an account's history may hold. */
  historyShare: number
}

/** The quota in force for an account, in bytes; -1 for unlimited. */
export const quotaOf = async (on: Reader, user: number, allowance: () => Promise<Allowance>): Promise<number> =>
  (await ownQuota(on, user)) ?? (await allowance()).defaultQuota

/** Fault `quota_exceeded` when the bytes an account came to use are more than it may; what does not grow always passes. */
export function assertWithin(quota: number, used: number, growth: number): void {
  if (growth > 0 && quota >= 0 && used > quota) throw quotaExceeded(quota)
}

export const quotaExceeded = (quota: number): Fault =>
  fault('quota_exceeded', { text: `The storage quota of ${formatSize(quota)} is used up.` })
