import { monotonicOf, type Clock } from '../../base/clock.ts'
import type { Summary, SyncEvent } from './report/events.ts'
import type { Status } from './status.ts'
import { FolderLocked } from './sync-errors.ts'
import type { Sleep } from '../../base/sleep.ts'

/** Polling interval of the folder, in milliseconds; and of the account, once nothing is left locally. */
const POLL_MS = 500
const ASK_MS = 3_000

interface Waiting {
  /** The local status of the folder. */
  status: () => Promise<Status>
  /** A dry run. */
  plan: (emit: (event: SyncEvent) => void) => Promise<Summary>
  /** Milliseconds; undefined for no limit. */
  timeout: number | undefined
  clock: Clock
  sleep: Sleep
  signal: AbortSignal
  /** Called once, if there is something to wait for. */
  onWait: (status: Status) => void
}

/** How the wait ended. */
export interface WaitResult {
  in_step: boolean
  waited_ms: number
  /** Remaining changes, as far as checked. */
  pending: number
  skipped: Summary['skipped']
  /** Why a run would not start: waiting longer is pointless. */
  refused?: Summary['refused']
}

/** Waits until both sides are in sync: checks the folder first, then asks the account. Takes no lock. */
export async function waitUntilInSync({
  status,
  plan,
  timeout,
  clock,
  sleep,
  signal,
  onWait,
}: Waiting): Promise<WaitResult> {
  const began = monotonicOf(clock)
  const waited = (): number => monotonicOf(clock) - began
  let reported = false
  for (;;) {
    const here = await status()
    let [pending, pause] = [here.pending.length + (here.rows?.waiting ?? 0), POLL_MS]
    if (!here.running && pending === 0) {
      const found = await dryRun(plan)
      if (found) {
        const { skipped, refused } = found.summary
        pending = found.pending
        if (pending === 0) return { in_step: true, waited_ms: waited(), pending, skipped }
        if (refused) return { in_step: false, waited_ms: waited(), pending, skipped, refused }
        pause = ASK_MS
      }
    }
    if (!reported) onWait(here)
    reported = true
    const left = timeout === undefined ? Infinity : timeout - waited()
    if (left <= 0) return { in_step: false, waited_ms: waited(), pending, skipped: here.skipped }
    await sleep(Math.min(pause, left), signal)
  }
}

/** What a run would do; undefined while another one is active. */
async function dryRun(plan: Waiting['plan']): Promise<{ summary: Summary; pending: number } | undefined> {
  let pending = 0
  try {
    const summary = await plan(({ event }) => {
      if (event === 'plan') pending += 1
    })
    return { summary, pending }
  } catch (error) {
    if (error instanceof FolderLocked) return undefined
    throw error
  }
}
