import { randomHex } from '../../base/random.ts'
import { iso, type Clock } from '../../base/clock.ts'
import { makeHasher, type Hasher } from '../../host/hasher.ts'
import type { Api } from '../api.ts'
import type { Account } from '../credentials.ts'
import { apply } from './apply.ts'
import { brake, massDeletion, type MaxDelete } from './brake.ts'
import type { Failure, Summary, SyncEvent } from './events.ts'
import { fillHashes } from './hashing.ts'
import { makeIgnoreRules } from './ignore-rules.ts'
import { leaveOutIgnored, rulesFirst } from './ignored.ts'
import { forgetSettled } from './conflicts.ts'
import { currentListing, type Heard } from './listing.ts'
import { assertOwner, knownLimits, knownOffers } from './owner.ts'
import { makePace, type Pace, type Sleep } from './pace.ts'
import type { Calls, Limits } from './turns.ts'
import { deviceLabel } from './paths.ts'
import { plan } from './plan.ts'
import { makeProgress } from './progress.ts'
import { heldBack } from './holds.ts'
import { emptyTrash, recover, runName } from './recover.ts'
import { buildRemote } from './remote.ts'
import { makeReport, type Report } from './report.ts'
import { makeGuard, openRoot, rememberRun, type Root } from './root.ts'
import { foldsCase, scan } from './scan.ts'
import { openRowSide, type RowSide } from './row-side.ts'
import { requestsOf } from './schedule.ts'
import { openForRun } from './session.ts'
import { makeSettle } from './settle.ts'
import type { State } from './state.ts'
import { emptyTree, type BaseTree, type LocalNode, type RemoteNode, type Tree } from './tree.ts'
import { putBack, type Undoing } from './undo.ts'
import { deedOf, planUndo, scopeOf, within, type Step } from './undo-plan.ts'
import type { Work } from './work.ts'

export interface SyncOptions {
  /** The synchronised folder. */
  path: string
  stateFolder: string
  api: Api
  account: Account
  /** Plans and changes nothing at all. */
  dryRun: boolean
  /** Takes back what the last run that changed something did, instead of going on. */
  undo?: boolean
  maxDelete: MaxDelete
  clock: Clock
  sleep: Sleep
  signal: AbortSignal
  emit: (event: SyncEvent) => void
  /** Told where the account's feed stood each time the account is looked at. */
  heard?: (at: Heard) => void
  /** Whether the rows of the account are brought up to date too. */
  rows?: boolean
}

/** Plans one after another until nothing is left to do; more would mean that somebody changes things as fast as we follow. */
const ROUNDS = 5

/**
 * Brings a folder and an account together, once and in both directions. Throws `Refused` before it would do harm, `Held` while another
 * run is at work, `Unreachable` and faults of the server; what was done until then stays done, and the next run goes on from there.
 */
export async function runSync(options: SyncOptions): Promise<Summary> {
  const { dryRun, clock, signal, emit, account } = options
  const root = await openRoot(options.path, options.stateFolder)
  const report = makeReport({ root: root.path, dryRun, clock, emit })
  const session = openForRun({ root, dryRun, notice: report.notice })
  const { state } = session
  const hasher = makeHasher()
  try {
    emit({ event: 'started', root: root.path, url: account.url, username: root.registered.username, dry_run: dryRun })
    const calls = state.get<Calls>('calls') ?? {}
    const limits = (): Limits => knownLimits(state)
    const paced = makePace({
      limits,
      calls,
      clock,
      sleep: options.sleep,
      signal,
      onWait: (limit, ms) => progress.onWait(limit, ms),
      onRequest: (limit) => progress.onRequest(limit),
      keep: () => state.set('calls', calls),
    })
    const { pace, count } = paced
    const progress = makeProgress({ clock, emit, limits, outlook: paced.outlook })
    try {
      const { registered } = root
      await assertOwner({ ...options, pace, registered, state })
      const rows =
        options.rows && !dryRun ? openRowSide({ ...options, pace, registered, notice: report.notice }) : undefined
      try {
        const parts = { ...options, root, state, hasher, pace, report, progress, rows }
        const engine = makeEngine(parts)
        if (!dryRun) await engine.prepare()
        await rows?.push()
        await (options.undo ? takeBack(parts, engine) : goOn(parts, engine))
        if (rows) report.rows(rows.tally())
      } finally {
        rows?.close()
      }
    } catch (error) {
      state.set('last_failure', { at: clock.now(), message: String((error as Error).message) } satisfies Failure)
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
  await emptyTrash(root.path, clock.now())
  forgetSettled(root.path, state)
  state.set('last_run', { ...summary, at: clock.now() })
  if (state.get('last_failure')) state.set('last_failure', null)
  state.endRecord()
}

type Progress = ReturnType<typeof makeProgress>

interface Parts extends Omit<SyncOptions, 'rows'> {
  root: Root
  state: State
  hasher: Hasher
  pace: Pace
  report: Report
  progress: Progress
  rows: RowSide | undefined
}

/** What the operations of a run work with. */
function makeWork(parts: Parts): Omit<Work, 'remote' | 'known'> {
  const { root, state, api, pace, clock, hasher, signal, report, progress } = parts
  return {
    root: root.path,
    api,
    pace,
    limits: () => knownLimits(state),
    offers: knownOffers(state),
    clock,
    hasher,
    signal,
    state,
    noting: true,
    device: deviceLabel(root.registered.device_name),
    date: iso(clock.now()).slice(0, 10),
    onDone(done) {
      report.onDone(done)
      if (done.op === 'upload' || done.op === 'download') progress.onTransfer()
    },
    onBytes: progress.onBytes,
    onAlone: progress.onAlone,
    settle: makeSettle(state),
    parts: new Map(),
    run: runName(iso(clock.now()), randomHex(2)),
    assertRoot: makeGuard(root),
  }
}

function makeEngine(parts: Parts) {
  const { root, state, signal, dryRun, report, progress } = parts
  const fold = foldsCase(root.path)
  const work = makeWork(parts)
  const { device, date } = work

  async function look(known: Tree<RemoteNode> | undefined) {
    const before = state.base()
    const rules = makeIgnoreRules(fold)
    const [scanned, listing] = await Promise.all([
      scan({ root: root.path, fold, base: before, rules, signal }),
      known ? undefined : currentListing(parts),
    ])
    if (listing) {
      parts.heard?.({ cursor: listing.cursor, epoch: listing.epoch })
      await parts.rows?.catchUp(listing)
    }
    const base: BaseTree = listing?.anew ? new Map() : before
    const remote = listing ? buildRemote(listing, { fold, base, rules }) : known!
    forgetIgnored(parts, base, leaveOutIgnored(base, scanned, remote))
    const trees = { base, local: scanned, remote }
    return { ...trees, ...(await learn(parts, trees)) }
  }

  /** Plans one round after another; with `scope`, of a part of both sides only. */
  async function rounds(scope?: (key: string) => boolean, maxDelete = parts.maxDelete): Promise<void> {
    let remote: Tree<RemoteNode> | undefined
    let of: number | undefined
    for (let round = 1; ; round += 1) {
      work.assertRoot()
      const found = await look(remote)
      remote = found.remote
      const trees = scope ? within(found, scope) : found
      const { base } = trees
      of ??= [...base.values()].filter(({ kind }) => kind === 'file').length
      const held = new Set([...report.held(), ...found.back])
      const planned = plan({ ...trees, fold, device, date, held })
      report.planned(planned, trees, requestsOf(work, planned.ops), progress.begin)

      const braked = brake({ ...trees, ops: planned.ops, of, max: maxDelete })
      const refusal = braked && massDeletion(braked, root.path, round === 1)
      const first = rulesFirst(planned.ops)
      if (dryRun) return report.dryRun(planned, { ...trees, refusal, newRules: first !== undefined })
      if (refusal) throw refusal
      const outcome = await apply({ ...work, remote, known: foldersIn(base) }, first ?? planned.ops)
      report.applied(outcome)
      if (!outcome.again && !first) return
      if (round === ROUNDS) return report.gaveUp(outcome)
      if (outcome.stale || first) remote = undefined
    }
  }

  return {
    async prepare(): Promise<void> {
      const before = state.get<boolean>('fold')
      if (before !== undefined && before !== fold) state.forgetAll()
      if (before !== fold) state.set('fold', fold)
      const recovered = await recover(work)
      if (recovered > 0)
        report.notice('recovered', `A run that was cut off left ${recovered} things half done; they were put in order.`)
    },

    look: () => look(undefined),
    rounds,
    work,
  }
}

type Engine = ReturnType<typeof makeEngine>

/** Brings an undo that was written down to its end: the account first, and then this side follows it. */
async function finishUndo({ state, clock, report }: Parts, { work, rounds }: Engine, steps: readonly Step[]) {
  work.assertRoot()
  const { done, left } = await putBack({ ...work, remote: emptyTree(), known: new Set() }, steps)
  work.noting = false
  await rounds(scopeOf(done), 'any')
  work.noting = true
  report.undo.done({ steps: done, left })
  if (done.length === 0) return state.set('undoing', null)
  state.replaceRecord({ run: work.run, at: clock.now(), ended: true, undo: true }, done.map(deedOf))
}

/** Takes back the last run that changed something; an undo that was cut off is brought to its end instead. */
async function takeBack(parts: Parts, engine: Engine): Promise<void> {
  const { state, report, dryRun } = parts
  const undoing = state.get<Undoing | null>('undoing')
  const planned = undoing ? { ...undoing, left: [] } : planUndo(state.deeds(), await engine.look())
  report.undo.planned(planned, state.record())
  if (dryRun || planned.steps.length === 0) return
  if (!undoing) state.set('undoing', { steps: planned.steps } satisfies Undoing)
  await finishUndo(parts, engine, planned.steps)
}

/** Brings both sides together; an undo that was cut off comes to its end first. */
async function goOn(parts: Parts, engine: Engine): Promise<void> {
  const undoing = parts.state.get<Undoing | null>('undoing')
  if (undoing && !parts.dryRun) {
    parts.report.notice('recovered', 'An undo that was cut off is brought to its end first.')
    await finishUndo(parts, engine, undoing.steps)
  }
  await engine.rounds()
}

/** Finds out what local files hold, and what is held back because of it. */
async function learn(
  { root, state, hasher, report, clock, signal }: Parts,
  trees: { base: BaseTree; local: Tree<LocalNode>; remote: Tree<RemoteNode> },
) {
  const holds = state.holds()
  const also = new Set(holds.map(({ key }) => key))
  const { read, inodes } = await fillHashes({ root: root.path, ...trees, state, also, clock, hasher, signal })
  report.hashed(read)
  const { keys: back, over, skipped } = heldBack(holds, trees)
  if (over.length > 0) state.commit(over.map((release) => ({ release })))
  trees.local.skipped.push(...skipped)
  return { back, inodes }
}

/** What came to be ignored is no part of any tree any more: it stays where it is, on both sides. */
function forgetIgnored({ state, report }: Parts, base: BaseTree, keys: readonly string[]): void {
  if (keys.length === 0) return
  state.commit(keys.map((drop) => ({ drop })))
  for (const key of keys) base.delete(key)
  const are = keys.length === 1 ? 'item is' : 'items are'
  report.notice('ignored', `${keys.length} ${are} ignored from now on; nothing is deleted because of it.`)
}

const foldersIn = (base: BaseTree): Set<string> =>
  new Set([...base].flatMap(([key, { kind }]) => (kind === 'dir' ? [key] : [])))
