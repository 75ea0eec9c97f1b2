import { syncFolder } from '../../../host/durable-files.ts'
import { errorCode } from '../../../base/errors.ts'
import type { Change, State } from './sync-state.ts'

/** The effect of an operation: folders with changed names, and changes of the state. */
export interface Effect {
  folders?: readonly string[]
  changes: readonly Change[]
}

export interface CommitBatcher {
  /** Records an effect; resolves when it is durable. It may wait for others to share the commit. */
  (effect: Effect): Promise<void>
  /** Records an effect and all pending ones without further delay. */
  now(effect: Effect): Promise<void>
  /** No more effects are coming: commit the pending ones now. */
  flush(): void
}

/** Most effects in one commit: enough to share its cost, few enough to lose little in a crash. */
const GROUP = 500
const LINGER_MS = 250

/** The names of a removed folder are gone with it: its parent is flushed instead. */
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

/** Names are flushed before the state refers to them. Concurrent effects share flushes and a commit. */
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
