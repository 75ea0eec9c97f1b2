import { monotonicOf, type Clock } from '../../../base/clock.ts'
import type { ApplyResult } from '../apply/apply-results.ts'
import { moveFields } from '../apply/executor.ts'
import type { Op, Plan } from '../plan/plan-builder.ts'
import type {
  Changes,
  NoticeCode,
  Planned,
  Progress,
  RowTally,
  Summary,
  SyncEvent,
  Undone,
  UndoSummary,
} from './events.ts'
import type { Load } from './transfer-progress.ts'
import {
  isNeverSynchronised,
  skipCodes,
  type LocalNode,
  type RemoteNode,
  type Skipped,
  type Tree,
} from '../plan/sync-tree.ts'
import type { Record } from '../state/journal.ts'
import { leftReasons, type Step, type UndoPlan } from '../undo/undo-plan.ts'
import type { Done } from '../run-context.ts'
import type { Refused } from '../../refused.ts'

interface ReportParts {
  root: string
  dryRun: boolean
  clock: Clock
  emit: (event: SyncEvent) => void
  /** Filled with what is done, over all attempts of a run. */
  done: Done[]
  /** The last completed run. */
  last: Summary | null | undefined
}

interface DryRunData {
  local: Tree<LocalNode>
  remote: Tree<RemoteNode>
  refusal: Refused | undefined
  /** Whether ignore files are about to be downloaded. */
  newRules: boolean
}

const NEW_RULES =
  'This run changes the rules of what is ignored (.svcignore): it would synchronise them first, and plan the rest with them.'

export type Report = ReturnType<typeof makeReport>

/** Counts what a run does, emits events and creates the summary. */
export function makeReport({ root, dryRun, clock, emit, done, last }: ReportParts) {
  const began = monotonicOf(clock)
  const failed = new Map<string, Skipped>()
  /** What the last plan skipped; earlier skips may be resolved. */
  let leftAlone: Skipped[] = []
  const forGood: Skipped[] = []
  let refused: Refused | undefined
  let hashed = 0
  let pending = 0
  let rows: RowTally | undefined
  const undo = makeUndoReport({ dryRun, emit })

  return {
    notice: (code: NoticeCode, message: string): void => emit({ event: 'notice', code, message }),
    rows(tally: RowTally, skipped: readonly Skipped[]): void {
      rows = tally
      forGood.push(...skipped)
      if (tally.sent + tally.received + tally.new_rejected > 0) emit({ event: 'rows', ...tally })
    },
    hashed: (count: number): void => void (hashed += count),
    failedKeys: (): Set<string> => new Set(failed.keys()),
    onDone(each: Done): void {
      done.push(each)
      emit({ event: 'done', ...each })
    },
    /** Records a plan; `begin` returns its duration. */
    planned(
      plan: Plan,
      { local, remote }: { local: Tree<LocalNode>; remote: Tree<RemoteNode> },
      requests: Load['requests'],
      begin: (load: Load) => Pick<Progress, 'limited_by'> & { seconds: number },
    ): void {
      leftAlone = [...local.skipped, ...remote.skipped, ...plan.skipped]
      forGood.push(...plan.skipped.filter(({ code }) => code === 'damaged'))
      const transfers = plan.ops.filter(({ op }) => op === 'upload' || op === 'download')
      const deletions = plan.ops.filter(({ op }) => op === 'remove-local' || op === 'remove-remote').length
      const bytes = transfers.reduce((total, op) => total + (sizeOf(op) ?? 0), 0)
      const files = transfers.length
      emit({ event: 'planned', transfers: files, bytes, deletions, ...begin({ files, bytes, requests }) })
    },
    undo,
    applied({ failed: more }: ApplyResult): void {
      for (const [key, skipped] of more) failed.set(key, skipped)
    },
    gaveUp: ({ changed }: ApplyResult): void => void forGood.push(...changed.values()),
    dryRun({ ops }: Plan, { local, remote, refusal, newRules }: DryRunData): void {
      refused = refusal
      for (const op of ops) {
        if (op.op === 'record' || op.op === 'forget' || op.op === 'move-base') continue
        pending += 1
        emit({ event: 'plan', ...plannedOf(op, op.op) })
      }
      for (const each of new Map([...remote.ignored, ...local.ignored]).values()) emit({ event: 'ignored', ...each })
      if (newRules) this.notice('rules_change', NEW_RULES)
    },
    summary(requests: number): Summary {
      const unique = new Map(
        [...leftAlone, ...forGood, ...failed.values()].map((each) => [`${each.code} ${each.path}`, each]),
      )
      const { skipped: all, left_out } = splitSkipped([...unique.values()], last)
      const skipped = all.map((each) => ({ ...each, message: wordsFor(each) }))
      for (const each of skipped) emit({ event: 'skipped', ...each })
      return {
        root,
        dry_run: dryRun,
        ...totals(done),
        skipped,
        in_sync: skipped.length === 0 && pending === 0 && !rows?.waiting,
        requests,
        hashed,
        took_ms: monotonicOf(clock) - began,
        left_out,
        ...(rows ? { rows } : {}),
        ...undo.summary(),
        ...(refused ? { refused: { reason: refused.reason, message: refused.message } } : {}),
      }
    },
  }
}

/** Separates links and special files that the last run knew from what is to be reported. */
export function splitSkipped<S extends Skipped>(all: readonly S[], last: Summary | null | undefined) {
  const known = new Set(
    [...(last?.skipped ?? []), ...(last?.left_out ?? [])].map(({ path, code }) => `${code} ${path}`),
  )
  const isKnown = (each: S): boolean => isNeverSynchronised(each) && known.has(`${each.code} ${each.path}`)
  return { skipped: all.filter((each) => !isKnown(each)), left_out: all.filter(isKnown) }
}

/** Sums of the completed operations. */
export function totals(done: readonly Done[]): Changes {
  const sum = (op: Done['op']) => {
    const files = done.filter((each) => each.op === op)
    return { files: files.length, bytes: files.reduce((total, { size = 0 }) => total + size, 0) }
  }
  return {
    uploaded: sum('upload'),
    downloaded: sum('download'),
    removed_here: sum('remove-local').files,
    removed_there: sum('remove-remote').files,
    moved_here: sum('move-local').files,
    moved_there: sum('move-remote').files,
    folders: sum('make-local').files + sum('make-remote').files,
    conflicts: done.flatMap(({ path, copy }) => (copy === undefined ? [] : [{ path, copy }])),
  }
}

/** Counts undone operations. */
function makeUndoReport({ dryRun, emit }: Pick<ReportParts, 'dryRun' | 'emit'>) {
  let undo: UndoSummary | undefined

  function add({ steps, left }: UndoPlan): void {
    undo ??= { run_at: null, of_undo: false, done: 0, left: [] }
    undo.done += steps.length
    for (const step of steps) emit({ event: 'undo', ...undoneOf(step) })
    for (const each of left) {
      const item = { ...each, message: leftReasons[each.why] }
      undo.left.push(item)
      emit({ event: 'left', ...item })
    }
  }

  return {
    /** Records the plan of an undo; its steps count once they are done. */
    planned({ steps, left }: UndoPlan, record: Record | undefined): void {
      add({ steps: dryRun ? steps : [], left })
      if (record) Object.assign(undo!, { run_at: record.at, of_undo: record.undo })
    },
    /** Records what was undone, and what could not be. */
    done: add,
    summary: (): { undo?: UndoSummary } => (undo ? { undo } : {}),
  }
}

const wordsFor = ({ code, detail }: Skipped): string => (detail ? `${skipCodes[code]} (${detail})` : skipCodes[code])

const sizeOf = (op: Op): number | undefined =>
  op.op === 'upload' ? op.local.id.size : op.op === 'download' ? op.file.size : undefined

function plannedOf(op: Op, kind: Planned['op']): Planned {
  const planned: Planned = { op: kind, path: op.here }
  const size = sizeOf(op)
  if (op.reason) planned.reason = op.reason
  if (size !== undefined) planned.size = size
  if (op.op === 'set-aside') planned.copy = op.to
  if (op.op === 'move-local' || op.op === 'move-remote') return { ...planned, ...moveFields(op) }
  return planned
}

function undoneOf(step: Step): Undone {
  const undone: Undone = { do: step.do, path: step.here, did: step.by }
  if (step.deed === 'copy') undone.side = step.side
  if (step.deed === 'move') undone.to = step.from.here
  return undone
}
