import { attemptAll } from '../../base/attempts.ts'
import { HOUR, type Clock } from '../../base/clock.ts'
import { makeSingleFlight } from '../../base/single-flight.ts'
import { advance, recordAll } from '../../storage/feed/changes.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import {
  allBelow,
  dropNodes,
  dropVersions,
  forgetEntry,
  markNodes,
  nextUnfinished,
  setState,
  SLICE,
  unmarkNodes,
  usersUnfinished,
  type Marked,
  type Unfinished,
} from '../../storage/files/tree-slices.ts'
import type { Heavy } from '../heavy.ts'
import { scopeOfTree } from './path-resolver.ts'
import { FILES_TABLE } from './tree.ts'

/** Age after which an abandoned staged copy is removed. */
const STAGING_PATIENCE = HOUR

/** Delay of background jobs. A failed one is retried by the next request or by upkeep. */
const SOON_MS = 1_000

interface Parts {
  database: Database
  clock: Clock
  heavy: Heavy
}

/** Records nodes in the feed and counts their bytes. Room files are in no feed. */
async function settleNodes(
  tx: Writer,
  { user_id: user, room_id: room }: Pick<Unfinished, 'user_id' | 'room_id'>,
  nodes: readonly Marked[],
  { deleted, now }: { deleted: boolean; now: number },
): Promise<void> {
  const bytes = new Map<number, number>()
  for (const { user_id: payer, size } of nodes) bytes.set(payer, (bytes.get(payer) ?? 0) + (deleted ? -size : size))
  for (const [payer, count] of bytes) if (count !== 0) await advance(tx, payer, 0, count)
  if (room !== null || nodes.length === 0) return
  const { seq } = await advance(tx, user, nodes.length)
  const changes = nodes.map(({ id }) => ({ table: FILES_TABLE, row: id, deleted }))
  await recordAll(tx, user, seq, now, changes)
}

/**
 * Finishes changes of large trees in slices, one transaction each: deletions, permanent removals, restorations and copies.
 * The first transaction takes effect at once: the tree is hidden, or its top is visible. The rest follows, also after a
 * crash, because the trash entry records the remaining work.
 */
export function makeTreeJobs({ database, clock, heavy }: Parts) {
  /** Processes nodes in slices, until another process advances the entry. */
  async function slices(
    entry: Unfinished,
    ids: readonly number[],
    work: (tx: Writer, slice: readonly number[]) => Promise<unknown>,
  ) {
    const { id, state } = entry
    let isDue = true
    for (let at = 0; isDue && at < ids.length; at += SLICE) {
      const slice = ids.slice(at, at + SLICE)
      isDue = await heavy.slice(() =>
        database.write(scopeOfTree(entry), async (tx) => {
          if (!(await setState(tx, id, state, state, clock.now()))) return false
          await work(tx, slice)
          return true
        }),
      )
    }
  }

  /** Marks deleted nodes bottom up, so that no feed has a node without its folder. */
  async function mark(entry: Unfinished): Promise<void> {
    const ids = (await allBelow(database.read, entry.node_id, [0])).reverse()
    await slices(entry, ids, async (tx, slice) => {
      const nodes = await markNodes(tx, slice, entry.id)
      await settleNodes(tx, entry, nodes, { deleted: true, now: clock.now() })
    })
    await database.write(scopeOfTree(entry), async (tx) => {
      const now = clock.now()
      const to = entry.state === 'erasing' ? 'dropping' : 'kept'
      if (!(await setState(tx, entry.id, entry.state, to, now))) return
      await settleNodes(tx, entry, [{ id: entry.node_id, user_id: entry.user_id, size: 0 }], { deleted: true, now })
    })
  }

  /** Unmarks restored nodes top down. */
  async function revive(entry: Unfinished): Promise<void> {
    const ids = await allBelow(database.read, entry.node_id, [0, entry.id])
    await slices(entry, ids, async (tx, slice) => {
      const nodes = await unmarkNodes(tx, slice, entry.id)
      await settleNodes(tx, entry, nodes, { deleted: false, now: clock.now() })
    })
    await database.write(scopeOfTree(entry), (tx) => forgetEntry(tx, entry.id))
  }

  /** Removes nodes permanently, bottom up. The collector removes their contents. */
  async function drop(entry: Unfinished): Promise<void> {
    const ids = [...(await allBelow(database.read, entry.node_id, [entry.id])).reverse(), entry.node_id]
    for (let at = 0; at < ids.length; at += SLICE) {
      const slice = ids.slice(at, at + SLICE)
      while ((await heavy.slice(() => database.write(scopeOfTree(entry), (tx) => dropVersions(tx, slice)))) > 0);
      await heavy.slice(() => database.write(scopeOfTree(entry), (tx) => dropNodes(tx, slice, entry.id)))
    }
  }

  async function finish(entry: Unfinished): Promise<void> {
    if (entry.state === 'marking' || entry.state === 'erasing') return mark(entry)
    if (entry.state === 'reviving') return revive(entry)
    if (entry.state === 'dropping') return drop(entry)
    // The copy was abandoned.
    await database.write(scopeOfTree(entry), (tx) => setState(tx, entry.id, 'staging', 'dropping', clock.now()))
  }

  async function work(user: number): Promise<void> {
    for (;;) {
      const entry = await nextUnfinished(database.read, user, clock.now() - STAGING_PATIENCE)
      if (!entry) return
      await finish(entry)
    }
  }

  const jobs = makeSingleFlight(work)

  /** Finishes the account's jobs; resolves when none is left. */
  async function settle(user: number): Promise<void> {
    // The running job may miss work that began during its last step.
    await jobs.underWay(user)
    return jobs.run(user)
  }

  return {
    settle,

    /** Finishes the account's jobs later, for callers inside an open transaction. */
    soon(user: number): void {
      const timer = setTimeout(() => void settle(user).catch(() => undefined), SOON_MS)
      timer.unref()
    },

    /** Finishes all jobs that a crash or another process left behind. */
    async settleAll(): Promise<void> {
      await attemptAll((await usersUnfinished(database.read)).map((user) => () => settle(user)))
    },
  }
}

export type TreeJobs = ReturnType<typeof makeTreeJobs>
