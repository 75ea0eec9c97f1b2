import type { Clock } from '../../base/clock.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database } from '../../storage/engine/database.ts'
import { historyOf, oldestTrash, oldestVersions, removeVersions } from '../../storage/files/history.ts'
import { releasedBy } from '../../storage/contents/released-contents.ts'
import { markOldTrashForRemoval, forgetVersions } from '../../storage/files/trash.ts'
import { setState } from '../../storage/files/tree-slices.ts'
import { inSlices } from '../../storage/engine/slices.ts'
import { quotaOf, type Allowance } from './allowance.ts'
import type { TreeJobs } from './tree-jobs.ts'

interface Parts {
  database: Database
  contents: Pick<Contents, 'reclaim'>
  clock: Clock
  allowance: () => Promise<Allowance>
}

/** What part of its quota an account may store before its history is looked at. */
const PART = 4
/** Versions that are removed in one transaction. */
const TOGETHER = 100
/** Summing up a long history takes its time: it may take this share of it. */
const PATIENCE = 20

/** The bound of what an account deleted and overwrote. */
export function makeHistory({
  database,
  contents,
  clock,
  allowance,
  jobs,
}: Parts & { jobs: Pick<TreeJobs, 'settle' | 'settleAll'> }) {
  /** When an account may be summed up again, by the process's clock. */
  const next = new Map<number, number>()
  /** Bytes that batches stored since. */
  const since = new Map<number, number>()

  async function excess(user: number): Promise<{ bytes: number; entries: number }> {
    const { historyShare, maxNodes } = await allowance()
    const quota = await quotaOf(database.read, user, allowance)
    const begun = performance.now()
    const { bytes, entries } = await historyOf(database.read, user)
    const ended = performance.now()
    next.set(user, ended + (ended - begun) * PATIENCE)
    return { bytes: quota < 0 ? 0 : bytes - Math.floor(quota * historyShare), entries: entries - maxNodes }
  }

  /**
   * Removes what the account let go of for good, when that is more than its quota or than it may have files: otherwise it
   * stays until the collector takes it, for whoever still reads it.
   */
  async function reclaim(user: number): Promise<void> {
    const { maxNodes } = await allowance()
    const quota = await quotaOf(database.read, user, allowance)
    const { bytes, entries } = await releasedBy(database.read, user)
    if (!(quota >= 0 && bytes > quota) && entries <= maxNodes) return
    // What cannot be removed now is left to the collector: it is nothing that whoever asks has done wrong.
    await contents.reclaim(user).catch(() => undefined)
  }

  /** Removes the oldest of it: a trash entry with all it holds, or some versions. False when there is nothing. */
  async function removeOldest(user: number, over: { bytes: number; entries: number }): Promise<boolean> {
    const entry = await oldestTrash(database.read, user)
    const versions = await oldestVersions(database.read, user, TOGETHER)
    if (entry && (versions.length === 0 || entry.at <= versions[0]!.at)) {
      await database.write((tx) => setState(tx, entry.id, 'kept', 'dropping', clock.now()))
      await jobs.settle(entry.user_id)
      return true
    }
    const doomed: number[] = []
    let freed = 0
    for (const { id, size, at } of versions) {
      if ((freed >= over.bytes && doomed.length >= over.entries) || (entry && entry.at <= at)) break
      doomed.push(id)
      freed += size
    }
    if (doomed.length === 0) return false
    await database.write((tx) => removeVersions(tx, doomed))
    return true
  }

  async function trim(user: number): Promise<void> {
    since.delete(user)
    const wait = (next.get(user) ?? 0) - performance.now()
    if (wait > 0) {
      // Whoever comes first afterwards does it.
      if (wait < SHORT_MS) await new Promise((resolve) => setTimeout(resolve, wait))
      else return
    }
    for (let over = await excess(user); over.bytes > 0 || over.entries > 0; over = await excess(user))
      if (!(await removeOldest(user, over))) break
    await reclaim(user)
  }

  return {
    /** Removes the oldest of an account's history until the rest is within its bounds, and the contents of what is gone. */
    trim,

    /** The same in the middle of many changes, when what was stored since the last time is a good part of the quota. */
    async grown(user: number, bytes: number): Promise<void> {
      const quota = await quotaOf(database.read, user, allowance)
      const all = (since.get(user) ?? 0) + bytes
      since.set(user, all)
      if (quota >= 0 && all > quota / PART) await trim(user)
    },

    /** Removes everybody's trash from before a moment; returns how many entries. */
    async forgetTrash(before: number): Promise<number> {
      const trash = await inSlices(database, (tx, limit) => markOldTrashForRemoval(tx, before, clock.now(), limit))
      await jobs.settleAll()
      return trash
    },

    /** Removes everybody's versions from before a moment; returns how many. */
    forgetVersions: (before: number): Promise<number> =>
      inSlices(database, (tx, limit) => forgetVersions(tx, before, limit)),
  }
}

/** Shorter waits are not worth being put off. */
const SHORT_MS = 100

export type History = ReturnType<typeof makeHistory>
