import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import pLimit from 'p-limit'
import { contract } from '../../../contract/contract.ts'
import type { Result } from '../../../contract/define.ts'
import { isFault } from '../../../contract/errors.ts'
import { errorCode } from '../../../base/errors.ts'
import { Changed } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { hashFile } from '../local/file-hashes.ts'
import { rescueInPlace } from '../local/concurrent-writes.ts'
import { requestMove } from '../apply/file-move.ts'
import { OWN_FOLDER } from '../plan/reserved-paths.ts'
import { assertFolders, removeEmptyFolder, lstatPath, moveToTrash } from '../local/file-operations.ts'
import { makeBatchSender } from '../apply/remote-changes.ts'
import { ownFile } from '../state/root.ts'
import { chunks } from '../apply/request-schedule.ts'
import { isSamePath, type FileState, type Content, type Side } from '../plan/sync-tree.ts'
import type { LeftItem, LeftReason, Step } from './undo-plan.ts'
import { upload } from '../apply/file-upload.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { trashPath } from '../local/local-trash.ts'

const { list: listVersions, restore: restoreVersion } = contract.versions.actions
const { list: listTrash, restore: restoreEntry } = contract.trash.actions
const { delete: remove, mkdir } = contract.syncFiles.actions

const CONCURRENCY = 8

/** The steps of an undo, stored before the first of them is done. */
export interface PendingUndo {
  steps: Step[]
}

type Of<D extends Step['deed']> = Extract<Step, { deed: D }>

interface Results {
  done: Step[]
  left: LeftItem[]
}

const other = (side: Side): Side => (side === 'here' ? 'there' : 'here')

/**
 * Executes the undo on the account, each step only if the account is as the run left it, and removes copies on both
 * sides. Safe to repeat. Throws if the server is not reachable, and the next run continues.
 */
export async function applyUndo(context: RunContext, steps: readonly Step[]): Promise<Results> {
  const copies = steps.filter((step): step is Of<'copy'> => step.deed === 'copy')
  const released = steps.filter(({ deed }) => deed === 'uncopy')
  // Before anything else: a removed copy must not look like a deletion by the user.
  await context.commit.now({
    changes: [
      ...copies.map(({ key, here, there, side, what }) => ({
        postpone: { key, here, there, side: other(side), what },
      })),
      ...released.map(({ key }) => ({ resume: key })),
    ],
  })
  const failed = new Map<Step, LeftReason>()
  const restorer = makeRestorer(context)
  for (const group of splitByKind(steps)) {
    const kind = kindOf(group[0]!)
    if (kind === 'remove') await removeRemote(context, group, failed)
    else {
      const limit = pLimit(kind === 'restore' ? CONCURRENCY : 1)
      const each = group.map((step) =>
        limit(() => {
          context.signal.throwIfAborted()
          return attempt(step, failed, () => undoStep(context, restorer, step))
        }),
      )
      for (const result of await Promise.allSettled(each))
        if (result.status === 'rejected') throw result.reason as Error
    }
  }
  const stays = copies.filter((step) => failed.has(step))
  const agreedAgain = stays.map(({ key, there: path, what }) => ({ put: key, node: { path, ...what } }))
  await context.commit.now({ changes: [...stays.map(({ key }) => ({ resume: key })), ...agreedAgain] })
  return {
    done: steps.filter((step) => !failed.has(step)),
    left: Array.from(failed, ([{ here: path }, why]) => ({ path, why })),
  }
}

/** Groups steps: deletions in one request, restorations in parallel, and the rest in order. */
const kindOf = (step: Step): 'remove' | 'restore' | 'alone' =>
  step.do === 'remove' || (step.deed === 'copy' && step.side === 'there')
    ? 'remove'
    : step.do === 'restore' || (step.do === 'revive' && contentOf(step).kind === 'file')
      ? 'restore'
      : 'alone'

function splitByKind(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = []
  for (const step of steps) {
    const last = groups.at(-1)
    // Files and folders are not mixed: a folder may occupy the path that a file needs.
    if (last && kindOf(last[0]!) === kindOf(step) && isFolder(last[0]!) === isFolder(step)) last.push(step)
    else groups.push([step])
  }
  return groups
}

/** The content that a step restores or removes. */
const contentOf = (step: Step): Content =>
  step.deed === 'set' ? (step.before ?? step.after)! : 'what' in step ? step.what : { kind: 'dir' }

const isFolder = (step: Step): boolean => contentOf(step).kind === 'dir'

async function attempt(step: Step, failed: Map<Step, LeftReason>, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    failed.set(step, reasonOf(error))
  }
}

/** Why a step was not done; errors that do not concern the step are thrown. */
function reasonOf(error: unknown): LeftReason {
  if (error instanceof Gone) return 'gone'
  if (error instanceof Changed) return error.side === 'local' ? 'changed_here' : 'changed_there'
  if (isFault(error)) {
    if (['precondition_failed', 'not_empty', 'exists', 'not_found', 'conflict'].includes(error.code))
      return 'changed_there'
    if (['quota_exceeded', 'too_many_files', 'forbidden', 'bad_path', 'too_large'].includes(error.code))
      return 'refused'
  }
  if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EEXIST', 'ENOTEMPTY'].includes(errorCode(error))) return 'changed_here'
  throw error
}

/** The earlier content no longer exists anywhere. */
class Gone extends Error {}

async function undoStep(context: RunContext, restorer: ReturnType<typeof makeRestorer>, step: Step): Promise<void> {
  if (step.deed === 'copy') await removeLocalCopy(context, step)
  else if (step.deed === 'move') await moveBack(context, step)
  else if (step.deed === 'set' && step.before?.kind === 'dir') {
    await context.throttle(mkdir, () =>
      context.api.call(mkdir, { path: step.there }, { signal: context.signal, repeatable: true }),
    )
  } else if (step.deed === 'set') await restorer(step, step.before as FileState)
}

async function moveBack(context: RunContext, { there, from, sha256 }: Of<'move'>): Promise<void> {
  try {
    await requestMove(context, there, from.there, sha256)
  } catch (error) {
    // It no longer exists: most likely it was already moved back, which the next scan shows.
    if (!isFault(error, 'not_found')) throw error
  }
}

/** Moves a file that the run created to the trash, if it is unchanged. */
async function removeLocalCopy(context: RunContext, { here, what }: Of<'copy'>): Promise<void> {
  const place = toLocalPath(context.root, here)
  const seen = lstatPath(place)
  if (!seen) return
  assertFolders(context.root, here)
  if (what.kind === 'dir') return removeEmptyFolder(place)
  if (seen.kind !== 'file') throw new Changed('local')
  const { sha256 } = await hashFile(place, seen.id)
  if (sha256 !== what.sha256) throw new Changed('local')
  const trash = trashPath(context.root, context.run, here)
  if (moveToTrash(place, seen.id, trash)) return
  // Written to concurrently: it stays.
  await context.commit.now({ folders: [dirname(place)], changes: await rescueInPlace(context, here, trash) })
  throw new Changed('local')
}

/** Conditional deletions on the server, as many as possible in one request. */
async function removeRemote(context: RunContext, steps: readonly Step[], failed: Map<Step, LeftReason>): Promise<void> {
  type Removal = OpOf<'remove-remote'>
  const ops = new Map<Removal, Step>(
    steps.map((step) => {
      const { key, here, there } = step
      const what = step.deed === 'copy' ? step.what : (step as Of<'set'>).after!
      const sha256 = what.kind === 'file' ? what.sha256 : undefined
      return [{ op: 'remove-remote', key, here, there, kind: what.kind, sha256 }, step]
    }),
  )
  const conditionOf = ({ sha256 }: Removal) => (sha256 === undefined ? { if_empty: true } : { if_sha256: sha256 })
  const together = makeBatchSender<Removal>(
    context,
    () => undefined,
    () => ({ changes: [] }),
    (op) => ({ op: 'delete', path: op.there, ...conditionOf(op) }),
  )
  const unbatched = new Set(ops.keys())
  for (const group of chunks([...ops.keys()], context.capabilities.files_batch?.operations)) {
    context.signal.throwIfAborted()
    await together(group, (op, result) => {
      unbatched.delete(op)
      if ('error' in result) failed.set(ops.get(op)!, reasonOf(result.error))
    })
  }
  for (const op of unbatched) {
    const params = { path: op.there, ...conditionOf(op) }
    const options = { signal: context.signal, repeatable: true }
    await attempt(ops.get(op)!, failed, async () => {
      await context.throttle(remove, () => context.api.call(remove, params, options))
    })
  }
}

/** Restores earlier contents on the account: from its versions, its trash, or the local trash. */
function makeRestorer(context: RunContext) {
  const options = { signal: context.signal }
  let listed: Promise<Result<typeof listTrash>['items']> | undefined

  const entries = (): Promise<Result<typeof listTrash>['items']> =>
    (listed ??= context
      .throttle(listTrash, () => context.api.call(listTrash, {}, options))
      .then(({ items }) => items)
      .catch(absent([])))

  /** The contents of a file with the current one; none if the file does not exist. */
  const versionsOf = (path: string): Promise<Result<typeof listVersions>['versions']> =>
    context
      .throttle(listVersions, () => context.api.call(listVersions, { path }, options))
      .then(({ versions }) => versions)
      .catch(absent([]))

  const present = async (path: string): Promise<string | undefined> =>
    (await versionsOf(path)).find(({ current }) => current)?.sha256

  /** After a refusal the content may be restored already: the response was lost, or someone else restored it. */
  async function restoreUnlessDone(
    path: string,
    { sha256 }: FileState,
    restore: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await restore()
    } catch (error) {
      if (!isFault(error) || (await present(path)) !== sha256) throw error
    }
  }

  async function fromVersions({ there }: Of<'set'>, before: FileState, over: string): Promise<boolean> {
    const versions = await versionsOf(there)
    const now = versions.find(({ current }) => current)?.sha256
    if (now === before.sha256) return true
    if (now !== undefined && now !== over) throw new Changed('remote')
    const found = versions.find(({ current, sha256 }) => !current && sha256 === before.sha256)
    if (!found) return false
    const params = { path: there, version_id: found.version_id, if_sha256: over }
    await restoreUnlessDone(there, before, () =>
      context.throttle(restoreVersion, () => context.api.call(restoreVersion, params, options)),
    )
    return true
  }

  async function fromTrash({ there }: Of<'set'>, before: FileState): Promise<boolean> {
    const { sha256 } = before
    const found = (await entries()).find((entry) => isSamePath(entry.path, there) && entry.sha256 === sha256)
    if (!found) return (await present(there)) === sha256
    await restoreUnlessDone(there, before, () =>
      context.throttle(restoreEntry, () => context.api.call(restoreEntry, { id: found.id }, options)),
    )
    return true
  }

  return async (step: Of<'set'>, before: FileState): Promise<void> => {
    const over = step.after?.kind === 'file' ? step.after.sha256 : undefined
    const isBack = over === undefined ? await fromTrash(step, before) : await fromVersions(step, before, over)
    if (isBack) return
    const kept = await findInLocalTrash(context.root, step.here, before)
    if (!kept) throw new Gone()
    const local = { kind: 'file' as const, path: kept.path, id: kept.id, sha256: before.sha256, blank: false }
    await upload(context, { op: 'upload', key: step.key, here: kept.path, there: step.there, local, over })
  }
}

/** The result if the server has no such action or file. */
const absent =
  <T>(nothing: T) =>
  (error: unknown): T => {
    if (isFault(error, 'not_found') || isFault(error, 'unknown_action')) return nothing
    throw error
  }

/** A content of a path in `.svc/trash`, of any run, as a path of the tree. */
async function findInLocalTrash(root: string, path: string, { sha256, size }: FileState) {
  let runs: string[] = []
  try {
    runs = readdirSync(ownFile(root, 'trash')).sort().reverse()
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
  for (const run of runs) {
    const at = `/${OWN_FOLDER}/trash/${run}${path}`
    const seen = lstatPath(toLocalPath(root, at))
    if (seen?.kind !== 'file' || seen.id.size !== size) continue
    const found = await hashFile(toLocalPath(root, at), seen.id)
    if (found.sha256 === sha256) return { path: at, id: seen.id }
  }
  return undefined
}
