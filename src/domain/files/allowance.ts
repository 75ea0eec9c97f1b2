import { formatSize } from '../../base/sizes.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { ownQuota } from '../../storage/files/nodes.ts'

/** Limits of accounts, in bytes; -1 for unlimited. */
export interface Allowance {
  /** Quota of accounts without their own. */
  defaultQuota: number
  maxFileSize: number
  /** Time that deleted and overwritten files can be restored, ms. */
  retention: number
  /** Maximum number of live files and folders of an account, and of entries in its history. */
  maxNodes: number
  /** Share of an account's quota that its history may use. */
  historyShare: number
}

/** The effective quota of an account in bytes; -1 for unlimited. */
export const quotaOf = async (on: Reader, user: number, allowance: () => Promise<Allowance>): Promise<number> =>
  (await ownQuota(on, user)) ?? (await allowance()).defaultQuota

/** Fault `quota_exceeded` if the use of an account grew beyond its quota; it may always shrink. */
export function assertWithin(quota: number, used: number, growth: number): void {
  if (growth > 0 && quota >= 0 && used > quota) throw quotaExceeded(quota)
}

export const quotaExceeded = (quota: number): Fault =>
  fault('quota_exceeded', { text: `The storage quota of ${formatSize(quota)} is used up.` })
