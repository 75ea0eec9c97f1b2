import { mkdirSync, rmdirSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ownFile } from '../state/root.ts'
import { errorCode } from '../../../base/errors.ts'
import { toLocalPath } from '../../files/local-path.ts'
import { lstatPath } from './file-operations.ts'
import { readdir, rm } from 'node:fs/promises'
import { DAY } from '../../../base/clock.ts'
import { checkRun, type ExpiryRun } from '../../../base/expiry-run.ts'
import type { State } from '../state/sync-state.ts'

/** Where `path` goes in this run's trash: the trash mirrors the tree, and starts another one if something is in the way. */
export function trashPath(root: string, run: string, path: string): string {
  for (let attempt = 1; ; attempt += 1) {
    const place = toLocalPath(ownFile(root, 'trash', attempt === 1 ? run : `${run}.${attempt}`), path)
    if (lstatPath(place)) continue
    try {
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
      return place
    } catch (error) {
      if (!['EEXIST', 'ENOTDIR'].includes(errorCode(error))) throw error
    }
  }
}

export function removeEmptyTrashFolders(root: string, folder: string): void {
  try {
    for (let at = folder; at !== ownFile(root); at = dirname(at)) rmdirSync(at)
  } catch {
    // The first one that is not empty ends it.
  }
}

/** Retention of `.svc/trash`. */
const TRASH_DAYS = 30

/** The name of a run's folder in the trash: its time and a unique suffix. */
export const runName = (now: string, random: string): string => `${now.slice(0, 19).replaceAll(':', '-')}Z-${random}`

/** Removes what has been in the trash long enough, unless the clock may have jumped. */
export async function emptyTrash(root: string, state: State, now: number): Promise<void> {
  const { isJump, run } = checkRun(state.get<ExpiryRun>('trash_emptied'), now)
  if (run) state.set('trash_emptied', run)
  const trash = ownFile(root, 'trash')
  if (isJump || !existsSync(trash)) return
  for (const name of await readdir(trash)) {
    const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)Z-/.exec(name)
    const at = match ? Date.parse(`${match[1]}:${match[2]}:${match[3]}Z`) : Number.NaN
    if (now - at > TRASH_DAYS * DAY) await rm(join(trash, name), { recursive: true, force: true })
  }
}
