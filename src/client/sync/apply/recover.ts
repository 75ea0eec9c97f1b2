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
import type { Change, Intent } from '../state/store.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../local-path.ts'
/** How long the part of a file is kept that is not asked for again. */
const PART_DAYS = 7

/** Brings to an end what a run that was cut off left half done, before anything is looked at. Returns how much that was. */
export async function recover(
  context: Recovering & Pick<RunContext, 'state' | 'commit' | 'parts' | 'clock'>,
): Promise<number> {
  context.assertRoot()
  await clearTemporary(context)
  const intents = context.state.intents()
  for (const intent of intents) await context.commit.now(await finish(context, intent))
  return intents.length
}

/** Removes temporary files, but for parts of large files with which a download can go on. */
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
  // On a disk that is away nothing is to be seen, and what was begun would pass for done.
  context.assertRoot()
  if (intent.kind === 'remove') return finishRemoval(context, intent)
  const kept = lstatPath(intent.trash)
  if (kept?.kind !== 'file') return { changes: [{ end: key }] }
  const live = lstatPath(toLocalPath(context.root, path))
  // Not replaced yet: the trash must not go on sharing the live file.
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
    // Where its folder is gone as well, somebody here has deleted it, and the trash is the right place.
    else if (hasFolders(context.root, path))
      return { folders: [dirname(place)], changes: [...(await rescueInPlace(context, path, file.trash)), { end: key }] }
  }
  // Gone by our hand, not the user's.
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
