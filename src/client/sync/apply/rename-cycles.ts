import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomHex } from '../../../base/random.ts'
import { isFault } from '../../../contract/errors.ts'
import { contract } from '../../../contract/contract.ts'
import { Changed } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { assertArrived, assertSource, changesAfterMoves, makeFoldersAbove, requestMove } from './file-move.ts'
import { TEMPORARY } from '../plan/reserved-paths.ts'
import { restoreFile, lstatPath } from '../local/file-operations.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { Change, Intent } from '../state/sync-state.ts'
import { childOf, nameOf, parentOf } from '../plan/sync-tree.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { conflictName } from '../plan/conflict-names.ts'
import { removeEmptyTrashFolders, trashPath } from '../local/local-trash.ts'

// Renames that form a cycle, or change only the case of a name, go through staging names: first all to staging, then
// all to their targets. Each step is journalled first. An interrupted run is reverted by the next one in the first
// half, and completed in the second.

export type StagedRename = Extract<Intent, { kind: 'park' }>

const action = contract.syncFiles.actions.move

export async function rotateLocal(context: RunContext, ops: readonly OpOf<'move-local'>[]): Promise<Effect> {
  for (const op of ops) assertSource(context, op)
  const staged = ops.map((op): StagedRename => ({
    kind: 'park',
    key: op.from.key,
    side: 'here',
    from: op.from.here,
    to: op.here,
    at: trashPath(context.root, context.run, op.from.here),
    placing: false,
  }))
  await rotate(context, staged, {
    stage({ from, at }, index) {
      assertSource(context, ops[index]!)
      renameSync(toLocalPath(context.root, from), at)
    },
    async place({ at, to }) {
      makeFoldersAbove(context.root, to)
      await restoreFile(at, toLocalPath(context.root, to))
    },
  })
  for (const { at } of staged) removeEmptyTrashFolders(context.root, dirname(at))
  const folders = ops.flatMap(({ from, here }) =>
    [from.here, here].map((path) => dirname(toLocalPath(context.root, path))),
  )
  return { folders, changes: [...changesAfterMoves(context, ops), ...ended(staged)] }
}

/** Renames a cycle on the server, as it happened locally. */
export async function rotateRemote(context: RunContext, ops: readonly OpOf<'move-remote'>[]): Promise<Effect> {
  context.assertRoot()
  for (const op of ops) assertArrived(context, op)
  const staged = ops.map((op): StagedRename => ({
    kind: 'park',
    key: op.from.key,
    side: 'there',
    from: op.from.there,
    to: op.there,
    at: `/${temporaryName(nameOf(op.from.there))}`,
    placing: false,
  }))
  await rotate(context, staged, {
    stage: ({ from, at }, index) => requestMove(context, from, at, ops[index]!.sha256),
    place: ({ at, to }) => requestMove(context, at, to),
  })
  return { changes: [...changesAfterMoves(context, ops), ...ended(staged)] }
}

/** A staging name that no client synchronises and that contains the original name. */
const temporaryName = (name: string): string => `${TEMPORARY}${randomHex(6)}-${Array.from(name).slice(-50).join('')}`

interface Steps {
  stage: (staged: StagedRename, index: number) => Promise<void> | void
  place: (staged: StagedRename) => Promise<void> | void
}

async function rotate(context: RunContext, staged: readonly StagedRename[], { stage, place }: Steps): Promise<void> {
  let written = staged
  try {
    await context.commit.now({ changes: written.map((begin) => ({ begin })) })
    for (const [index, each] of staged.entries()) await stage(each, index)
    written = staged.map((each) => ({ ...each, placing: true }))
    await context.commit.now({ changes: written.map((begin) => ({ begin })) })
    for (const each of staged) await place(each)
  } catch (error) {
    for (const each of written) await context.commit.now(await finishStagedRename(context, each))
    throw error
  }
}

const ended = (staged: readonly StagedRename[]): Change[] => staged.map(({ key }) => ({ end: key }))

type Finishing = Pick<RunContext, 'root' | 'assertRoot' | 'api' | 'throttle' | 'signal' | 'device' | 'date'>

/** Moves staged items to their place: back, or to the target. If it is taken, the item becomes a conflict copy. */
export async function finishStagedRename(context: Finishing, staged: StagedRename): Promise<Effect> {
  const goal = staged.placing ? staged.to : staged.from
  const changes: Change[] = [{ end: staged.key }]
  if (staged.side === 'here') return { folders: await finishLocal(context, staged.at, goal), changes }
  await finishRemote(context, staged.at, goal)
  return { changes }
}

/** Names to try in turn: the target itself, then copies of it. */
function* namesFor({ device, date }: Finishing, goal: string): Generator<string> {
  yield goal
  for (let attempt = 1; ; attempt += 1) {
    yield childOf(parentOf(goal), conflictName({ name: nameOf(goal), device, date, sha256: randomHex(4), attempt }))
  }
}

/** Returns the folders in which names changed. */
async function finishLocal(context: Finishing, at: string, goal: string): Promise<string[]> {
  // On an unmounted disk everything looks missing.
  context.assertRoot()
  if (!lstatPath(at)) return []
  for (const path of namesFor(context, goal)) {
    try {
      const folders = makeFoldersAbove(context.root, path)
      const place = toLocalPath(context.root, path)
      await restoreFile(at, place)
      removeEmptyTrashFolders(context.root, dirname(at))
      return [...folders, dirname(place)]
    } catch (error) {
      if (!(error instanceof Changed)) throw error
    }
  }
  return []
}

async function finishRemote(context: Finishing, at: string, goal: string): Promise<void> {
  for (const to of namesFor(context, goal)) {
    try {
      await context.throttle(action, () => context.api.call(action, { from: at, to }, { signal: context.signal }))
      return
    } catch (error) {
      // It was never moved there, or is no longer there.
      if (isFault(error, 'not_found')) return
      if (!isFault(error, 'exists')) throw error
    }
  }
}
