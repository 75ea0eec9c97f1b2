import { lstatSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Changed } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { fetchFile, type Fetched } from './content-download.ts'
import { rescueAsConflictCopy } from '../local/concurrent-writes.ts'
import { assertFile, assertFolders, renameNoReplace, replaceFile, lstatPath } from '../local/file-operations.ts'
import type { OnResult } from './executor.ts'
import { identityOf } from '../local/scan.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { Change } from '../state/sync-state.ts'
import type { Identity } from '../plan/sync-tree.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { trashPath } from '../local/local-trash.ts'

type Download = OpOf<'download'>

/**
 * Downloads a file: to a temporary one, verified and flushed, and then to its path, where only the file that the plan
 * saw is replaced. The replaced file goes to the trash.
 */
export async function download(context: RunContext, op: Download): Promise<Effect> {
  const fetched = await fetchFile(context, op, checkTarget(context, op))
  context.signal.throwIfAborted()
  const effects: Effect[] = []
  await putInPlace(context, [fetched], (_, result) => {
    if ('error' in result) throw result.error
    effects.push(result.effect)
  })
  return effects[0]!
}

/** Checks that the target of a download is as planned, and returns the mode of the file it replaces. Throws `Changed`. */
export function checkTarget(context: Pick<RunContext, 'root'>, op: Download): number | undefined {
  const target = toLocalPath(context.root, op.here)
  const before = lstatPath(target)
  assertFolders(context.root, op.here)
  if (op.over) assertFile(target, op.over)
  else if (before) throw new Changed('local')
  return before?.kind === 'file' ? before.mode : undefined
}

/** Renames fetched files to their paths. Intents for replaced files are committed first, in one commit. */
export async function putInPlace(
  context: RunContext,
  fetched: readonly Fetched[],
  onResult: OnResult<Download>,
): Promise<void> {
  const moves = fetched.map((each): Placement => ({ ...each, trash: undefined, replaced: false }))
  const begun: Change[] = []
  for (const move of moves) {
    const { key, here: path, over } = move.op
    if (!over) continue
    move.trash = trashPath(context.root, context.run, path)
    begun.push({ begin: { kind: 'replace', key, path, trash: move.trash, size: over.size, mtimeNs: over.mtimeNs } })
  }
  if (begun.length > 0) await context.commit.now({ changes: begun })
  const failed: { op: Download; error: unknown }[] = []
  const undone: Change[] = []
  for (const move of moves) {
    const { op, temporary } = move
    try {
      onResult(op, { effect: await place(context, move) })
    } catch (error) {
      failed.push({ op, error })
      undone.push(...forgotten(context, op.key))
      // A replaced file without a committed result is left for the next run.
      if (move.trash !== undefined && !move.replaced) undone.push({ end: op.key })
      rmSync(temporary, { force: true })
    }
  }
  if (undone.length > 0) await context.commit.now({ changes: undone })
  for (const { op, error } of failed) onResult(op, { error })
}

interface Placement extends Fetched {
  /** Path in the trash of the replaced file. */
  trash: string | undefined
  replaced: boolean
}

const forgotten = (context: Pick<RunContext, 'parts'>, key: string): Change[] =>
  context.parts.delete(key) ? [{ whole: key }] : []

async function place(context: RunContext, move: Placement): Promise<Effect> {
  const { op, temporary, trash, id, at } = move
  const target = toLocalPath(context.root, op.here)
  assertFolders(context.root, op.here)
  const changes: Change[] = [{ put: op.key, node: { path: op.there, ...op.file } }]
  if (op.over && trash !== undefined) {
    const sound = replaceFile(temporary, target, op.over, trash)
    move.replaced = true
    if (!sound) changes.push(await rescueAsConflictCopy(context, op.here, trash))
    changes.push({ end: op.key })
  } else renameNoReplace(temporary, target)
  changes.push(...forgotten(context, op.key))
  const placed = identityIfUnchanged(target, id)
  if (placed) changes.push({ hash: op.key, hashed: { id: placed, sha256: op.file.sha256, blank: false, at } })
  return { folders: [dirname(target)], changes }
}

/** The identity of a downloaded file, if it is unchanged; only then its hash is stored. */
function identityIfUnchanged(target: string, fetched: Identity): Identity | undefined {
  const stats = lstatSync(target, { bigint: true, throwIfNoEntry: false })
  if (!stats?.isFile()) return undefined
  const id = identityOf(stats)
  return id.ino === fetched.ino && id.size === fetched.size && id.mtimeNs === fetched.mtimeNs ? id : undefined
}
