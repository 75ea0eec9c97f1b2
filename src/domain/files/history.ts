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

/** Divisor of the quota that may be stored before the history is checked. */
const PART = 4
/** Versions removed per transaction. */
const TOGETHER = 100
/** The history is summed up at most 1/20 of the time. */
const PATIENCE = 20

/** Time after which the history is summed up even if it did not grow, ms: limits may have changed. */
const OUTDATED_MS = 60_000

/** How long a request waits until what it released is removed, ms. */
const RECLAIM_MS = 5_000

/** Waits for a while; the work goes on afterwards. */
async function briefly(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, RECLAIM_MS)))
  await Promise.race([work, limit]).finally(() => clearTimeout(timer))
}

/** When the histories of accounts were summed up. */
function makeSums() {
  const known = new Map<number, { at: number; next: number; isPostponed: boolean }>()
  return {
    record: (user: number, begun: number, ended: number) =>
      void known.set(user, { at: ended, next: ended + (ended - begun) * PATIENCE, isPostponed: false }),
    /** Time until the next sum, ms; not positive if it may be now. */
    waitOf: (user: number): number => (known.get(user)?.next ?? 0) - performance.now(),
    postpone(user: number): void {
      const sum = known.get(user)
      if (sum) sum.isPostponed = true
    },
    isDue(user: number): boolean {
      const sum = known.get(user)
      return !sum || sum.isPostponed || performance.now() - sum.at > OUTDATED_MS
    },
  }
}

/** Limits the deleted and overwritten files of an account. */
export function makeHistory({
  database,
  contents,
  clock,
  allowance,
  jobs,
}: Parts & { jobs: Pick<TreeJobs, 'settle' | 'settleAll'> }) {
  const sums = makeSums()
  /** Bytes stored by batches since the last sum. */
  const since = new Map<number, number>()

  async function excess(user: number): Promise<{ bytes: number; entries: number }> {
    const { historyShare, maxNodes } = await allowance()
    const quota = await quotaOf(database.read, user, allowance)
    const begun = performance.now()
    const { bytes, entries } = await historyOf(database.read, user)
    const ended = performance.now()
    sums.record(user, begun, ended)
    return { bytes: quota < 0 ? 0 : bytes - Math.floor(quota * historyShare), entries: entries - maxNodes }
  }

  /** Deletes released contents beyond the quota at once; the collector removes others later, so that readers finish. */
  async function reclaim(user: number): Promise<void> {
    const { maxNodes } = await allowance()
    const quota = await quotaOf(database.read, user, allowance)
    const { bytes, entries } = await releasedBy(database.read, user)
    if (!(quota >= 0 && bytes > quota) && entries <= maxNodes) return
    // A failure is left to the collector: the caller did nothing wrong. Who releases faster than the store removes waits a moment.
    await briefly(contents.reclaim(user).catch(() => undefined))
  }

  /** Removes the oldest trash entry or some of the oldest versions. Returns false if there is nothing. */
  async function removeOldest(user: number, over: { bytes: number; entries: number }): Promise<boolean> {
    const entry = await oldestTrash(database.read, user)
    const versions = await oldestVersions(database.read, user, TOGETHER)
    if (entry && (versions.length === 0 || entry.at <= versions[0]!.at)) {
      await database.write({ accounts: [entry.user_id] }, (tx) =>
        setState(tx, entry.id, 'kept', 'dropping', clock.now()),
      )
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
    await database.write({ accounts: [user] }, (tx) => removeVersions(tx, doomed))
    return true
  }

  async function trimNow(user: number): Promise<void> {
    since.delete(user)
    const wait = sums.waitOf(user)
    if (wait > 0) {
      // The next request trims instead.
      if (wait >= SHORT_MS) return sums.postpone(user)
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
    for (let over = await excess(user); over.bytes > 0 || over.entries > 0; over = await excess(user))
      if (!(await removeOldest(user, over))) break
    await reclaim(user)
  }

  /**
   * Trims an account's history to its limits, oldest first. Never rejects: the change that let it grow is committed, and who is
   * told that it failed would repeat it. The next request trims instead.
   */
  const trim = (user: number): Promise<void> => trimNow(user).catch(() => sums.postpone(user))

  return {
    trim,

    /** The same after a change that cannot have let it grow, if it is due for another reason. */
    async trimIfDue(user: number): Promise<void> {
      if (sums.isDue(user)) await trim(user)
    },

    /** Trims during a batch, once it has stored a quarter of the quota. */
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

/** Shorter waits are not postponed. */
const SHORT_MS = 100

export type History = ReturnType<typeof makeHistory>
