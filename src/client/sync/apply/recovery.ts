import { unlinkSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DAY } from '../../../base/clock.ts'
import { Changed } from '../sync-errors.ts'
import { rescueInPlace, rescueAsConflictCopy } from '../local/concurrent-writes.ts'
import { assertFolders, lstatPath } from '../local/file-operations.ts'
import { finishStagedRename } from './rename-cycles.ts'
import { ownFile } from '../state/root.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { Change, Intent } from '../state/sync-state.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'
/** Retention of partial downloads that are not requested again, days. */
const PART_DAYS = 7

/** Completes or reverts what an interrupted run left, before the scan. Returns how many operations that were. */
export async function recover(
  context: Recovering & Pick<RunContext, 'state' | 'commit' | 'parts' | 'clock'>,
): Promise<number> {
  context.assertRoot()
  await clearTemporary(context)
  const intents = context.state.intents()
  for (const intent of intents) await context.commit.now(await finish(context, intent))
  return intents.length
}

/** Removes temporary files, except partial large files that can be resumed. */
async function clearTemporary({ root, state, parts, clock }: Pick<RunContext, 'root' | 'state' | 'parts' | 'clock'>) {
  const temporary = ownFile(root, 'tmp')
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  const there = await readdir(temporary)
  const gone: Change[] = []
  for (const [key, part] of state.parts()) {
    if (there.includes(part.name) && clock.now() - part.at < PART_DAYS * DAY) parts.set(key, part)
    else gone.push({ whole: key })
  }
  const kept = new Set([...parts.values()].map(({ name }) => name))
  for (const name of there) {
    if (!kept.has(name)) await rm(join(temporary, name), { recursive: true, force: true })
  }
  if (gone.length > 0) state.commit(gone)
}

type Recovering = Pick<
  RunContext,
  'root' | 'assertRoot' | 'api' | 'throttle' | 'signal' | 'device' | 'date' | 'onDone' | 'clock'
>

async function finish(context: Recovering, intent: Intent): Promise<Effect> {
  if (intent.kind === 'park') return finishStagedRename(context, intent)
  const { key, path } = intent
  // On an unmounted disk nothing is visible, and unfinished work would look complete.
  context.assertRoot()
  if (intent.kind === 'remove') return finishRemoval(context, intent)
  const kept = lstatPath(intent.trash)
  if (kept?.kind !== 'file') return { changes: [{ end: key }] }
  const live = lstatPath(toLocalPath(context.root, path))
  // Not replaced yet: the trash must not keep a link to the live file.
  if (live?.kind === 'file' && live.id.ino === kept.id.ino) unlinkSync(intent.trash)
  else if (kept.id.size !== intent.size || kept.id.mtimeNs !== intent.mtimeNs) {
    const changes = [await rescueAsConflictCopy(context, path, intent.trash), { end: key }]
    return { folders: [dirname(toLocalPath(context.root, path))], changes }
  }
  return { changes: [{ end: key }] }
}

type Removal = Extract<Intent, { kind: 'remove' }>

async function finishRemoval(context: Recovering, { key, path, file }: Removal): Promise<Effect> {
  const place = toLocalPath(context.root, path)
  const live = lstatPath(place)
  const kept = file && lstatPath(file.trash)
  if (file && kept?.kind === 'file' && (kept.id.size !== file.size || kept.id.mtimeNs !== file.mtimeNs)) {
    if (live?.kind === 'file' && live.id.ino === kept.id.ino) unlinkSync(file.trash)
    // If its folder is gone too, a user deleted it, and the trash is the right place.
    else if (hasFolders(context.root, path))
      return { folders: [dirname(place)], changes: [...(await rescueInPlace(context, path, file.trash)), { end: key }] }
  }
  // Removed by the engine, not by the user.
  return { changes: live ? [{ end: key }] : [{ drop: key }, { end: key }] }
}

function hasFolders(root: string, path: string): boolean {
  try {
    assertFolders(root, path)
    return true
  } catch (error) {
    if (error instanceof Changed) return false
    throw error
  }
}
