import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertUsable } from '../../../host/regular-file.ts'
import type { NoticeCode } from '../report/events.ts'
import { assertUnlocked, takeLock } from './root-lock.ts'
import { ownFile, type Root } from './root.ts'
import { openState, type State } from './sync-state.ts'

export interface Session {
  state: State
  close(): void
}

interface Parts {
  root: Root
  /** Uses a copy of the state outside the folder: nothing in it is touched, not even a lock. */
  dryRun: boolean
  notice: (code: NoticeCode, message: string) => void
}

/** Takes a root's lock and opens its state. Throws `FolderLocked` while another run holds it. */
export function openForRun({ root, dryRun, notice }: Parts): Session {
  const lock = ownFile(root.path, 'lock')
  if (dryRun) assertUnlocked(lock)
  const unlock = dryRun ? undefined : takeLock(lock)
  let copy: string | undefined
  const close = (): void => {
    if (copy) rmSync(copy, { recursive: true, force: true })
    unlock?.()
  }
  try {
    if (dryRun) copy = copyState(root.path)
    const { server_id, user_id, root_id } = root.registered
    const file = copy ? join(copy, 'state.db') : ownFile(root.path, 'state.db')
    const { state, fresh } = openState(file, { root_id, server_id, user_id })
    if (fresh && (fresh !== 'new' || root.registered.synced)) notice(...notices[fresh])
    return {
      state,
      close() {
        state.close()
        close()
      },
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Opens a root's state read-only, without the lock: the state itself during a run, else a copy. */
export function openReadOnly(root: Root, running: boolean): Session {
  const copy = running ? undefined : copyState(root.path)
  const removeCopy = (): void => {
    if (copy) rmSync(copy, { recursive: true, force: true })
  }
  try {
    const { server_id, user_id, root_id } = root.registered
    const file = copy ? join(copy, 'state.db') : ownFile(root.path, 'state.db')
    const { state } = openState(file, { root_id, server_id, user_id })
    return {
      state,
      close() {
        state.close()
        removeCopy()
      },
    }
  } catch (error) {
    removeCopy()
    throw error
  }
}

const COMPARED_AGAIN = 'both sides are compared again, and nothing is deleted.'

const notices: Record<'new' | 'damaged' | 'foreign', [NoticeCode, string]> = {
  new: ['state_lost', `The state of earlier runs is missing: ${COMPARED_AGAIN}`],
  damaged: ['state_lost', `The state of earlier runs is damaged: ${COMPARED_AGAIN}`],
  foreign: ['state_foreign', `The stored state belongs to another folder or account: ${COMPARED_AGAIN}`],
}

function copyState(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-dry-run-'))
  try {
    for (const name of ['state.db', 'state.db-wal']) {
      assertUsable(ownFile(root, name))
      if (existsSync(ownFile(root, name))) copyFileSync(ownFile(root, name), join(folder, name))
    }
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}
