import { syncFolder } from '../../../host/durable.ts'
import { errorCode } from '../../../base/errors.ts'
import type { Change, State } from './store.ts'

/** What an operation brought about: folders whose names changed, and what state is to know of it. */
export interface Effect {
  folders?: readonly string[]
  changes: readonly Change[]
}

export interface CommitBatcher {
  /** Records an effect; resolves when it is durable. It may wait a moment for others to share the cost. */
  (effect: Effect): Promise<void>
  /** Records an effect, and all that wait, without waiting for more. */
  now(effect: Effect): Promise<void>
  /** Nobody else is coming: what waits is recorded now. */
  flush(): void
}

/** Effects that share one commit: many enough to divide its cost, few enough to lose little when the run is killed. */
const GROUP = 500
const LINGER_MS = 250

/** A folder that went away since takes its names with it: what matters then is the folder it was in. */
async function syncIfThere(folder: string): Promise<void> {
  try {
    await syncFolder(folder)
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error))) throw error
  }
}

interface Waiting extends Effect {
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Records effects durably: first the names in the folders reach the disk, then state says so, never the other way round.
 * Effects that come about at the same time share the flushing of folders and one commit.
 */
export function makeCommitBatcher(state: Pick<State, 'commit'>): CommitBatcher {
  const queue: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let running = false

  async function drain(): Promise<void> {
    running = true
    while (queue.length > 0) {
      const group = queue.splice(0, GROUP)
      try {
        const folders = new Set(group.flatMap((effect) => effect.folders ?? []))
        await Promise.all([...folders].map(syncIfThere))
        state.commit(group.flatMap(({ changes }) => changes))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    running = false
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (!running) drain().catch(() => undefined)
  }

  const settle = (effect: Effect): Promise<void> =>
    new Promise((resolve, reject) => {
      queue.push({ ...effect, resolve, reject })
      if (queue.length >= GROUP) flush()
      else timer ??= setTimeout(flush, LINGER_MS)
    })
  const now = (effect: Effect): Promise<void> => {
    const recorded = settle(effect)
    flush()
    return recorded
  }
  return Object.assign(settle, { now, flush })
}
