import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import pLimit from 'p-limit'
import { contract } from '../../contract/contract.ts'
import type { Result } from '../../contract/define.ts'
import { isFault } from '../../contract/errors.ts'
import { codeOf } from '../../base/trouble.ts'
import { Changed } from './changed.ts'
import type { Holding, SideName } from './deeds.ts'
import type { OpOf } from './draft.ts'
import { hashFile } from './hashing.ts'
import { giveBack } from './late-edits.ts'
import { requestMove } from './moving.ts'
import { OWN_FOLDER, placeOf } from './paths.ts'
import { assertFolders, discardFolder, see, takeAway, trashPlace } from './placing.ts'
import { carry } from './remote-changes.ts'
import { ownFile } from './root.ts'
import { chunks } from './schedule.ts'
import type { FileState } from './tree.ts'
import type { LeftAlone, LeftReason, Step } from './undo-plan.ts'
import { upload } from './upload.ts'
import type { Work } from './work.ts'

const { list: listVersions, restore: restoreVersion } = contract.versions.actions
const { list: listTrash, restore: restoreEntry } = contract.trash.actions
const { delete: remove, mkdir } = contract.syncFiles.actions

const AT_ONCE = 8

/** What was about to be taken back, written down before the first of it is. */
export interface Undoing {
  steps: Step[]
}

type Of<D extends Step['deed']> = Extract<Step, { deed: D }>

interface Results {
  done: Step[]
  left: LeftAlone[]
}

const other = (side: SideName): SideName => (side === 'here' ? 'there' : 'here')

/**
 * Puts the account back, step by step, each under the condition that it still is what the run left; and removes copies on both sides.
 * Doing it again does no harm: what is done already is found so. Throws when the server is away, and the next run goes on from there.
 */
export async function putBack(work: Work, steps: readonly Step[]): Promise<Results> {
  const copies = steps.filter((step): step is Of<'copy'> => step.deed === 'copy')
  const released = steps.filter(({ deed }) => deed === 'uncopy')
  // First of all: a copy that is gone must not pass for one that somebody deleted.
  await work.settle.now({
    changes: [
      ...copies.map(({ key, here, there, side, what }) => ({ hold: { key, here, there, side: other(side), what } })),
      ...released.map(({ key }) => ({ release: key })),
    ],
  })
  const failed = new Map<Step, LeftReason>()
  const restorer = makeRestorer(work)
  for (const stretch of stretchesOf(steps)) {
    const kind = kindOf(stretch[0]!)
    if (kind === 'remove') await removeThere(work, stretch, failed)
    else {
      const limit = pLimit(kind === 'restore' ? AT_ONCE : 1)
      const each = stretch.map((step) =>
        limit(() => {
          work.signal.throwIfAborted()
          return attempt(step, failed, () => one(work, restorer, step))
        }),
      )
      for (const result of await Promise.allSettled(each))
        if (result.status === 'rejected') throw result.reason as Error
    }
  }
  const stays = copies.filter((step) => failed.has(step))
  const agreedAgain = stays.map(({ key, there: path, what }) => ({ put: key, node: { path, ...what } }))
  await work.settle.now({ changes: [...stays.map(({ key }) => ({ release: key })), ...agreedAgain] })
  return {
    done: steps.filter((step) => !failed.has(step)),
    left: Array.from(failed, ([{ here: path }, why]) => ({ path, why })),
  }
}

/** What can be done together: deletions in one request, restorations side by side, and the rest in order. */
const kindOf = (step: Step): 'remove' | 'restore' | 'alone' =>
  step.do === 'remove' || (step.deed === 'copy' && step.side === 'there')
    ? 'remove'
    : step.do === 'restore' || (step.do === 'revive' && holdingOf(step).kind === 'file')
      ? 'restore'
      : 'alone'

function stretchesOf(steps: readonly Step[]): Step[][] {
  const stretches: Step[][] = []
  for (const step of steps) {
    const last = stretches.at(-1)
    // What a file is taken back from may be what a folder stood in the way of: kinds are never mixed.
    if (last && kindOf(last[0]!) === kindOf(step) && isFolder(last[0]!) === isFolder(step)) last.push(step)
    else stretches.push([step])
  }
  return stretches
}

/** What a step brings back or takes away. */
const holdingOf = (step: Step): Holding =>
  step.deed === 'set' ? (step.before ?? step.after)! : 'what' in step ? step.what : { kind: 'dir' }

const isFolder = (step: Step): boolean => holdingOf(step).kind === 'dir'

async function attempt(step: Step, failed: Map<Step, LeftReason>, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    failed.set(step, reasonOf(error))
  }
}

/** Why a step was not done; what says nothing of the step itself is thrown on. */
function reasonOf(error: unknown): LeftReason {
  if (error instanceof Gone) return 'gone'
  if (error instanceof Changed) return error.side === 'here' ? 'changed_here' : 'changed_there'
  if (isFault(error)) {
    if (['precondition_failed', 'not_empty', 'exists', 'not_found', 'conflict'].includes(error.code))
      return 'changed_there'
    if (['quota_exceeded', 'forbidden', 'bad_path', 'too_large'].includes(error.code)) return 'refused'
  }
  if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EEXIST', 'ENOTEMPTY'].includes(codeOf(error))) return 'changed_here'
  throw error
}

/** An earlier content is kept nowhere any more. */
class Gone extends Error {}

async function one(work: Work, restorer: ReturnType<typeof makeRestorer>, step: Step): Promise<void> {
  if (step.deed === 'copy') await removeCopyHere(work, step)
  else if (step.deed === 'move') await moveBack(work, step)
  else if (step.deed === 'set' && step.before?.kind === 'dir') {
    await work.pace(mkdir, () => work.api.call(mkdir, { path: step.there }, { signal: work.signal, repeatable: true }))
  } else if (step.deed === 'set') await restorer(step, step.before as FileState)
}

async function moveBack(work: Work, { there, from, sha256 }: Of<'move'>): Promise<void> {
  try {
    await requestMove(work, there, from.there, sha256)
  } catch (error) {
    // It is not there any more: most likely because it was moved back already, and this side will see.
    if (!isFault(error, 'not_found')) throw error
  }
}

/** Removes a file that a run brought, if it still is what was brought; it goes to the trash. */
async function removeCopyHere(work: Work, { here, what }: Of<'copy'>): Promise<void> {
  const place = placeOf(work.root, here)
  const seen = see(place)
  if (!seen) return
  assertFolders(work.root, here)
  if (what.kind === 'dir') return discardFolder(place)
  if (seen.kind !== 'file') throw new Changed('here')
  const { sha256 } = await hashFile(place, seen.id)
  if (sha256 !== what.sha256) throw new Changed('here')
  const trash = trashPlace(work.root, work.run, here)
  if (takeAway(place, seen.id, trash)) return
  // Written to at the last moment: it stays.
  await work.settle.now({ folders: [dirname(place)], changes: await giveBack(work, here, trash) })
  throw new Changed('here')
}

/** Deletes on the server, each under its condition, as many as possible in one request. */
async function removeThere(work: Work, steps: readonly Step[], failed: Map<Step, LeftReason>): Promise<void> {
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
  const together = carry<Removal>(
    work,
    () => undefined,
    () => ({ changes: [] }),
    (op) => ({ op: 'delete', path: op.there, ...conditionOf(op) }),
  )
  const alone = new Set(ops.keys())
  for (const group of chunks([...ops.keys()], work.offers.files_batch?.operations)) {
    work.signal.throwIfAborted()
    await together(group, (op, share) => {
      alone.delete(op)
      if ('error' in share) failed.set(ops.get(op)!, reasonOf(share.error))
    })
  }
  for (const op of alone) {
    const params = { path: op.there, ...conditionOf(op) }
    const options = { signal: work.signal, repeatable: true }
    await attempt(ops.get(op)!, failed, async () => {
      await work.pace(remove, () => work.api.call(remove, params, options))
    })
  }
}

/** Brings earlier contents back to the account: from its versions, from its trash, or from the trash of this folder. */
function makeRestorer(work: Work) {
  const options = { signal: work.signal }
  let listed: Promise<Result<typeof listTrash>['items']> | undefined

  const entries = (): Promise<Result<typeof listTrash>['items']> =>
    (listed ??= work
      .pace(listTrash, () => work.api.call(listTrash, {}, options))
      .then(({ items }) => items)
      .catch(absent([])))

  /** The contents of a file, the present one among them; none when there is no such file. */
  const versionsOf = (path: string): Promise<Result<typeof listVersions>['versions']> =>
    work
      .pace(listVersions, () => work.api.call(listVersions, { path }, options))
      .then(({ versions }) => versions)
      .catch(absent([]))

  const present = async (path: string): Promise<string | undefined> =>
    (await versionsOf(path)).find(({ current }) => current)?.sha256

  /** Restores a content. An answer that got lost, or somebody who was faster, may be why it is refused: then it is there. */
  async function unlessSo(path: string, { sha256 }: FileState, restore: () => Promise<unknown>): Promise<void> {
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
    if (now !== undefined && now !== over) throw new Changed('there')
    const found = versions.find(({ current, sha256 }) => !current && sha256 === before.sha256)
    if (!found) return false
    const params = { path: there, version_id: found.version_id, if_sha256: over }
    await unlessSo(there, before, () => work.pace(restoreVersion, () => work.api.call(restoreVersion, params, options)))
    return true
  }

  async function fromTrash({ there }: Of<'set'>, before: FileState): Promise<boolean> {
    const { sha256 } = before
    const found = (await entries()).find((entry) => entry.path === there && entry.sha256 === sha256)
    if (!found) return (await present(there)) === sha256
    await unlessSo(there, before, () =>
      work.pace(restoreEntry, () => work.api.call(restoreEntry, { id: found.id }, options)),
    )
    return true
  }

  return async (step: Of<'set'>, before: FileState): Promise<void> => {
    const over = step.after?.kind === 'file' ? step.after.sha256 : undefined
    const isBack = over === undefined ? await fromTrash(step, before) : await fromVersions(step, before, over)
    if (isBack) return
    const kept = await keptHere(work.root, step.here, before)
    if (!kept) throw new Gone()
    const local = { kind: 'file' as const, path: kept.path, id: kept.id, sha256: before.sha256, blank: false }
    await upload(work, { op: 'upload', key: step.key, here: kept.path, there: step.there, local, over })
  }
}

/** What a server without such an action, or without such a file, amounts to. */
const absent =
  <T>(nothing: T) =>
  (error: unknown): T => {
    if (isFault(error, 'not_found') || isFault(error, 'unknown_action')) return nothing
    throw error
  }

/** A content of a path in `.svc/trash`, of whatever run, as a path of the tree. */
async function keptHere(root: string, path: string, { sha256, size }: FileState) {
  let runs: string[] = []
  try {
    runs = readdirSync(ownFile(root, 'trash')).sort().reverse()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  for (const run of runs) {
    const at = `/${OWN_FOLDER}/trash/${run}${path}`
    const seen = see(placeOf(root, at))
    if (seen?.kind !== 'file' || seen.id.size !== size) continue
    const found = await hashFile(placeOf(root, at), seen.id)
    if (found.sha256 === sha256) return { path: at, id: seen.id }
  }
  return undefined
}
