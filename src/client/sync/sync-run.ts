import { randomHex } from '../../base/random.ts'
import { iso, monotonicOf, type Clock } from '../../base/clock.ts'
import { isFault } from '../../contract/errors.ts'
import { fileProblem } from '../../base/errors.ts'
import { makeHasher, type Hasher } from '../../host/hasher.ts'
import type { Api } from '../api.ts'
import type { Account } from '../auth/credentials.ts'
import { applyPlan } from './apply/plan-execution.ts'
import { guardDeletions, massDeletionError, type MaxDelete } from './plan/deletion-guard.ts'
import type { Failure, Summary, SyncEvent } from './report/events.ts'
import { fillHashes } from './local/file-hashes.ts'
import { makeIgnoreRules } from './local/ignore-rules.ts'
import { assertRulesStored, removeIgnored, rulesFirst } from './plan/ignored-paths.ts'
import { forgetResolvedConflicts } from './conflicts.ts'
import { currentListing, type FeedPosition } from './remote/remote-listing.ts'
import { assertSameAccount, knownLimits, knownCapabilities } from './remote/account-check.ts'
import { makeThrottle, type Throttle } from '../http/throttle.ts'
import type { Calls, Limits } from '../http/rate-limiter.ts'
import { plan } from './plan/plan.ts'
import { makeProgress } from './report/transfer-progress.ts'
import { findPostponed } from './plan/postponed.ts'
import { recover } from './apply/recovery.ts'
import { makeReport, totals, type Report } from './report/summary.ts'
import { makeGuard, openRoot, rememberRun, type Root } from './state/root.ts'
import { foldsCase, scan } from './local/scan.ts'
import { openReplicaSync, type ReplicaSync } from './replica-sync.ts'
import { requestsOf } from './apply/request-schedule.ts'
import { openForRun } from './state/sync-session.ts'
import { makeCommitBatcher } from './state/commit-batcher.ts'
import type { State } from './state/sync-state.ts'
import { emptyTree, type BaseTree, type LocalNode, type RemoteNode, type Tree } from './plan/sync-tree.ts'
import { applyUndo, type PendingUndo } from './undo/undo-execution.ts'
import { journalEntryOf, planUndo, scopeOf, within, type Step } from './undo/undo-plan.ts'
import type { Done, RunContext } from './run-context.ts'
import { isTemporary } from '../http/connectivity.ts'
import { retryAfterOf, withRetry } from '../http/request-retry.ts'
import { deviceLabel } from './plan/conflict-names.ts'
import { emptyTrash, runName } from './local/local-trash.ts'
import type { Sleep } from '../../base/sleep.ts'
import { buildRemote } from './remote/remote-tree.ts'

export interface SyncOptions {
  /** The synchronised folder. */
  path: string
  stateFolder: string
  api: Api
  account: Account
  /** Plan only; change nothing. */
  dryRun: boolean
  /** Repeat the run for this long while the server is unavailable, ms. */
  retry?: number | undefined
  /** Undo the last run that changed something, instead of synchronising. */
  undo?: boolean
  maxDelete: MaxDelete
  clock: Clock
  sleep: Sleep
  signal: AbortSignal
  emit: (event: SyncEvent) => void
  /** Called with the feed position each time the account is listed. */
  onFeedPosition?: (at: FeedPosition) => void
  /** Whether to synchronise the account's rows too. */
  rows?: boolean
}

/** Most plans per run; more would mean that changes arrive as fast as they are synchronised. */
const ROUNDS = 5

/**
 * Synchronises a folder and an account once, in both directions. Throws `Refused` to prevent damage, `FolderLocked`
 * during another run, `Unreachable`, and faults of the server. Completed work stays done, and the next run continues.
 */
export async function runSync(options: SyncOptions): Promise<Summary> {
  const { emit, clock, sleep, signal, retry = 0 } = options
  const done: Done[] = []
  const [until, deadline] = [clock.now() + retry, monotonicOf(clock) + retry]
  try {
    return await withRetry(() => runOnce(options, done), {
      first: 1_000,
      longest: 30_000,
      timeLimit: retry,
      isTemporary: (error) => isTemporary(error) && monotonicOf(clock) < deadline,
      // Nobody knows when maintenance ends; what it asks for is a guess.
      retryAfterOf: (error) => (isFault(error, 'maintenance') ? undefined : retryAfterOf(error)),
      onWait: (_ms, error) => emit({ event: 'retrying', until, message: (error as Error).message }),
      sleep,
      signal,
    })
  } catch (error) {
    if (done.length > 0) emit({ event: 'stopped', ...totals(done) })
    throw error
  }
}

/** One attempt; adds what it does to `done`. */
async function runOnce(options: SyncOptions, done: Done[]): Promise<Summary> {
  const { dryRun, clock, signal, emit, account } = options
  const root = await openRoot(options.path, options.stateFolder)
  const session = openForRun({ root, dryRun, notice: (code, message) => emit({ event: 'notice', code, message }) })
  const { state } = session
  const report = makeReport({ root: root.path, dryRun, clock, emit, done, last: state.get<Summary>('last_run') })
  const hasher = makeHasher()
  try {
    emit({ event: 'started', root: root.path, url: account.url, username: root.registered.username, dry_run: dryRun })
    const calls = state.get<Calls>('calls') ?? {}
    const limits = (): Limits => knownLimits(state)
    const throttled = makeThrottle({
      limits,
      calls,
      clock,
      sleep: options.sleep,
      signal,
      onWait: (limit, ms) => progress.onWait(limit, ms),
      onRequest: (limit) => progress.onRequest(limit),
      keep: () => state.set('calls', calls),
    })
    const { throttle, count } = throttled
    const progress = makeProgress({ clock, emit, limits, estimateWait: throttled.estimateWait })
    try {
      const { registered } = root
      await assertSameAccount({ ...options, throttle, registered, state })
      const rows =
        options.rows && !dryRun
          ? openReplicaSync({ ...options, throttle, registered, notice: report.notice })
          : undefined
      try {
        const parts = { ...options, root, state, hasher, throttle, report, progress, rows }
        const engine = makeEngine(parts)
        if (!dryRun) await engine.prepare()
        await rows?.push()
        await (options.undo ? undoLastRun(parts, engine) : syncBoth(parts, engine))
        if (rows) report.rows(rows.tally(), rows.skipped())
      } finally {
        rows?.close()
      }
    } catch (error) {
      state.set('last_failure', {
        at: clock.now(),
        message: fileProblem(error) ?? String((error as Error).message),
      } satisfies Failure)
      throw error
    } finally {
      if (Object.keys(calls).length > 0) state.set('calls', calls)
    }
    const summary = report.summary(count())
    if (!dryRun) await finish(options, root, state, summary)
    return summary
  } finally {
    await hasher.close()
    session.close()
  }
}

async function finish({ stateFolder, clock }: SyncOptions, root: Root, state: State, summary: Summary): Promise<void> {
  await rememberRun(root, stateFolder)
  await emptyTrash(root.path, state, clock.now())
  forgetResolvedConflicts(root.path, state)
  state.set('last_run', { ...summary, at: clock.now() })
  if (state.get('last_failure')) state.set('last_failure', null)
  state.endRecord()
}

type Progress = ReturnType<typeof makeProgress>

interface Parts extends Omit<SyncOptions, 'rows'> {
  root: Root
  state: State
  hasher: Hasher
  throttle: Throttle
  report: Report
  progress: Progress
  rows: ReplicaSync | undefined
}

/** What the operations of a run work with. */
function makeRunContext(parts: Parts): Omit<RunContext, 'remote' | 'known'> {
  const { root, state, api, throttle, clock, hasher, signal, report, progress } = parts
  return {
    root: root.path,
    api,
    throttle,
    limits: () => knownLimits(state),
    capabilities: knownCapabilities(state),
    clock,
    hasher,
    signal,
    state,
    journaling: true,
    device: deviceLabel(root.registered.device_name),
    date: iso(clock.now()).slice(0, 10),
    onDone(done) {
      report.onDone(done)
      if (done.op === 'upload' || done.op === 'download') progress.onTransfer()
    },
    onBytes: progress.onBytes,
    onUnbatched: progress.onUnbatched,
    commit: makeCommitBatcher(state),
    parts: new Map(),
    run: runName(iso(clock.now()), randomHex(2)),
    assertRoot: makeGuard(root),
  }
}

function makeEngine(parts: Parts) {
  const { root, state, signal, dryRun, report, progress } = parts
  const fold = foldsCase(root.path)
  const context = makeRunContext(parts)
  const { device, date } = context

  async function inspect(known: Tree<RemoteNode> | undefined) {
    const before = state.base()
    const rules = makeIgnoreRules(fold)
    const [scanned, listing] = await Promise.all([
      scan({ root: root.path, fold, base: before, rules, signal }),
      known ? undefined : currentListing(parts),
    ])
    if (listing) {
      parts.onFeedPosition?.({ cursor: listing.cursor, epoch: listing.epoch })
      await parts.rows?.catchUp(listing)
    }
    const base: BaseTree = listing?.wasRestored ? new Map() : before
    const remote = listing ? buildRemote(listing, { fold, base, rules }) : known!
    forgetIgnored(parts, base, removeIgnored(base, scanned, remote))
    const trees = { base, local: scanned, remote }
    return { ...trees, ...(await completeHashes(parts, trees)) }
  }

  /** Plans one round after another; `scope` limits both sides to a part. */
  async function rounds(scope?: (key: string) => boolean, maxDelete = parts.maxDelete): Promise<void> {
    let remote: Tree<RemoteNode> | undefined
    let of: number | undefined
    for (let round = 1; ; round += 1) {
      context.assertRoot()
      const found = await inspect(remote)
      remote = found.remote
      const trees = scope ? within(found, scope) : found
      const { base } = trees
      of ??= [...base.values()].filter(({ kind }) => kind === 'file').length
      const excluded = new Set([...report.failedKeys(), ...found.back])
      const planned = plan({ ...trees, fold, device, date, excluded })
      report.planned(planned, trees, requestsOf(context, planned.ops), progress.begin)

      const blocked = guardDeletions({ ...trees, ops: planned.ops, of, max: maxDelete })
      const refusal = blocked && massDeletionError(blocked, root.path, round === 1)
      const first = rulesFirst(planned.ops)
      if (dryRun) return report.dryRun(planned, { ...trees, refusal, newRules: first !== undefined })
      if (refusal) throw refusal
      const result = await applyPlan({ ...context, remote, known: foldersIn(base) }, first?.ops ?? planned.ops)
      report.applied(result)
      if (first) assertRulesStored(first.rules, result.failed)
      if (!result.again && !first) return
      if (round === ROUNDS) return report.gaveUp(result)
      if (result.stale || first) remote = undefined
    }
  }

  return {
    async prepare(): Promise<void> {
      const before = state.get<boolean>('fold')
      if (before !== undefined && before !== fold) state.forgetAll()
      if (before !== fold) state.set('fold', fold)
      const recovered = await recover(context)
      if (recovered > 0)
        report.notice(
          'recovered',
          `An interrupted run left ${recovered} unfinished operations; they were completed or reverted.`,
        )
    },

    inspect: () => inspect(undefined),
    rounds,
    context,
  }
}

type Engine = ReturnType<typeof makeEngine>

/** Completes a stored undo: first on the account, then locally. */
async function finishUndo({ state, clock, report }: Parts, { context, rounds }: Engine, steps: readonly Step[]) {
  context.assertRoot()
  const { done, left } = await applyUndo({ ...context, remote: emptyTree(), known: new Set() }, steps)
  context.journaling = false
  await rounds(scopeOf(done), 'any')
  context.journaling = true
  report.undo.done({ steps: done, left })
  if (done.length === 0) return state.set('undoing', null)
  state.replaceRecord({ run: context.run, at: clock.now(), ended: true, undo: true }, done.map(journalEntryOf))
}

/** Undoes the last run that changed something; completes an interrupted undo instead. */
async function undoLastRun(parts: Parts, engine: Engine): Promise<void> {
  const { state, report, dryRun } = parts
  const undoing = state.get<PendingUndo | null>('undoing')
  const planned = undoing ? { ...undoing, left: [] } : planUndo(state.journalEntries(), await engine.inspect())
  report.undo.planned(planned, state.record())
  if (dryRun || planned.steps.length === 0) return
  if (!undoing) state.set('undoing', { steps: planned.steps } satisfies PendingUndo)
  await finishUndo(parts, engine, planned.steps)
}

/** Synchronises both sides; completes an interrupted undo first. */
async function syncBoth(parts: Parts, engine: Engine): Promise<void> {
  const undoing = parts.state.get<PendingUndo | null>('undoing')
  if (undoing && !parts.dryRun) {
    parts.report.notice('recovered', 'An interrupted undo is completed first.')
    await finishUndo(parts, engine, undoing.steps)
  }
  await engine.rounds()
}

/** Hashes local files where decisions need it, and finds which paths stay postponed. */
async function completeHashes(
  { root, state, hasher, report, clock, signal }: Parts,
  trees: { base: BaseTree; local: Tree<LocalNode>; remote: Tree<RemoteNode> },
) {
  const postponed = state.postponed()
  const also = new Set(postponed.map(({ key }) => key))
  const { read, inodes } = await fillHashes({ root: root.path, ...trees, state, also, clock, hasher, signal })
  report.hashed(read)
  const { keys: back, resumed, skipped } = findPostponed(postponed, trees)
  if (resumed.length > 0) state.commit(resumed.map((resume) => ({ resume })))
  trees.local.skipped.push(...skipped)
  return { back, inodes }
}

/** Newly ignored paths leave all three trees and stay where they are on both sides. */
function forgetIgnored({ state, report }: Parts, base: BaseTree, keys: readonly string[]): void {
  if (keys.length === 0) return
  state.commit(keys.map((drop) => ({ drop })))
  for (const key of keys) base.delete(key)
  const are = keys.length === 1 ? 'item is' : 'items are'
  report.notice('ignored', `${keys.length} ${are} ignored from now on; nothing is deleted because of it.`)
}

const foldersIn = (base: BaseTree): Set<string> =>
  new Set([...base].flatMap(([key, { kind }]) => (kind === 'dir' ? [key] : [])))
