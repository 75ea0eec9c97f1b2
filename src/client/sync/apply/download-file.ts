import { lstatSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Changed } from '../sync-errors.ts'
import type { OpOf } from '../plan/plan-builder.ts'
import { fetchFile, type Fetched } from './fetch-file.ts'
import { rescueAsConflictCopy } from '../local/concurrent-writes.ts'
import { assertFile, assertFolders, renameNoReplace, replaceFile, lstatPath } from '../local/file-operations.ts'
import type { OnResult } from './executor.ts'
import { identityOf } from '../local/scan.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { Change } from '../state/store.ts'
import type { Identity } from '../plan/tree.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../local-path.ts'
import { trashPath } from '../local/trash.ts'

type Download = OpOf<'download'>

/**
 * Brings a file here: into a temporary file, checked against what was announced and flushed, and only then to its place, where
 * nothing is overwritten but the very file the plan saw. What is replaced goes to the trash.
 */
export async function download(context: RunContext, op: Download): Promise<Effect> {
  const fetched = await fetchFile(context, op, checkTarget(context, op))
  context.signal.throwIfAborted()
  const told: Effect[] = []
  await putInPlace(context, [fetched], (_, result) => {
    if ('error' in result) throw result.error
    told.push(result.effect)
  })
  return told[0]!
}

/** Checks that the target of a download is as planned, and returns the mode of the file that it replaces. Throws `Changed`. */
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
      // What was replaced, but not put in order, stays for the next run to see to.
      if (move.trash !== undefined && !move.replaced) undone.push({ end: op.key })
      rmSync(temporary, { force: true })
    }
  }
  if (undone.length > 0) await context.commit.now({ changes: undone })
  for (const { op, error } of failed) onResult(op, { error })
}

interface Placement extends Fetched {
  /** Where the file goes that is replaced. */
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
  const placed = stillThat(target, id)
  if (placed) changes.push({ hash: op.key, hashed: { id: placed, sha256: op.file.sha256, blank: false, at } })
  return { folders: [dirname(target)], changes }
}

/** The identity of a placed file, if it is still the one that was fetched; a hash is remembered only for that. */
function stillThat(target: string, fetched: Identity): Identity | undefined {
  const stats = lstatSync(target, { bigint: true, throwIfNoEntry: false })
  if (!stats?.isFile()) return undefined
  const id = identityOf(stats)
  return id.ino === fetched.ino && id.size === fetched.size && id.mtimeNs === fetched.mtimeNs ? id : undefined
}
