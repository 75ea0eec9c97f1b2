import { existsSync, unlinkSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DAY } from '../../base/clock.ts'
import { Changed } from './changed.ts'
import { giveBack, keepEdit } from './late-edits.ts'
import { placeOf } from './paths.ts'
import { assertFolders, see } from './placing.ts'
import { unpark } from './ring.ts'
import { ownFile } from './root.ts'
import type { Effect } from './settle.ts'
import type { Change, Intent } from './state.ts'
import type { Work } from './work.ts'

/** How long what was replaced or deleted by the engine stays in `.svc/trash`. */
const TRASH_DAYS = 30
/** How long the part of a file is kept that is not asked for again. */
const PART_DAYS = 7

/** Brings to an end what a run that was cut off left half done, before anything is looked at. Returns how much that was. */
export async function recover(work: Recovering & Pick<Work, 'state' | 'settle' | 'parts' | 'clock'>): Promise<number> {
  work.assertRoot()
  await clearTemporary(work)
  const intents = work.state.intents()
  for (const intent of intents) await work.settle.now(await finish(work, intent))
  return intents.length
}

/** Removes temporary files, but for parts of large files with which a download can go on. */
async function clearTemporary({ root, state, parts, clock }: Pick<Work, 'root' | 'state' | 'parts' | 'clock'>) {
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

type Recovering = Pick<Work, 'root' | 'assertRoot' | 'api' | 'pace' | 'signal' | 'device' | 'date' | 'onDone' | 'clock'>

async function finish(work: Recovering, intent: Intent): Promise<Effect> {
  if (intent.kind === 'park') return unpark(work, intent)
  const { key, path } = intent
  // On a disk that is away nothing is to be seen, and what was begun would pass for done.
  work.assertRoot()
  if (intent.kind === 'remove') return finishRemoval(work, intent)
  const kept = see(intent.trash)
  if (kept?.kind !== 'file') return { changes: [{ end: key }] }
  const live = see(placeOf(work.root, path))
  // Not replaced yet: the trash must not go on sharing the live file.
  if (live?.kind === 'file' && live.id.ino === kept.id.ino) unlinkSync(intent.trash)
  else if (kept.id.size !== intent.size || kept.id.mtimeNs !== intent.mtimeNs) {
    const changes = [await keepEdit(work, path, intent.trash), { end: key }]
    return { folders: [dirname(placeOf(work.root, path))], changes }
  }
  return { changes: [{ end: key }] }
}

type Removal = Extract<Intent, { kind: 'remove' }>

async function finishRemoval(work: Recovering, { key, path, file }: Removal): Promise<Effect> {
  const place = placeOf(work.root, path)
  const live = see(place)
  const kept = file && see(file.trash)
  if (file && kept?.kind === 'file' && (kept.id.size !== file.size || kept.id.mtimeNs !== file.mtimeNs)) {
    if (live?.kind === 'file' && live.id.ino === kept.id.ino) unlinkSync(file.trash)
    // Where its folder is gone as well, somebody here has deleted it, and the trash is the right place.
    else if (hasFolders(work.root, path))
      return { folders: [dirname(place)], changes: [...(await giveBack(work, path, file.trash)), { end: key }] }
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

/** The name of a run's folder in the trash: when it was, and something that no other run has. */
export const runName = (now: string, random: string): string => `${now.slice(0, 19).replaceAll(':', '-')}Z-${random}`

/** Removes what has been in the trash long enough. */
export async function emptyTrash(root: string, now: number): Promise<void> {
  const trash = ownFile(root, 'trash')
  if (!existsSync(trash)) return
  for (const name of await readdir(trash)) {
    const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)Z-/.exec(name)
    const at = match ? Date.parse(`${match[1]}:${match[2]}:${match[3]}Z`) : Number.NaN
    if (now - at > TRASH_DAYS * DAY) await rm(join(trash, name), { recursive: true, force: true })
  }
}
