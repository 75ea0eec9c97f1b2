import type { Clock } from '../../base/clock.ts'
import type { Contents, Staged } from '../../storage/contents/contents.ts'
import type { Database } from '../../storage/engine/database.ts'
import type { AdmittedUpload } from './upload-accounting.ts'
import type { History } from './history.ts'

interface Parts {
  unattended: Database
  contents: Pick<Contents, 'abandon' | 'drop'>
  clock: Clock
  history: Pick<History, 'trim'>
}

/** Sees to it that nothing stays of a received content that no row came to point to. */
export function makeReceivedContents({ unattended, contents, clock, history }: Parts) {
  /** Of received contents: whose they are, and what is to be called when their bytes are stored or dropped. */
  const landings = new WeakMap<Staged, { user: number | undefined; done: () => void }>()
  /** Published contents that a row came to point to. */
  const stored = new WeakSet<Staged>()

  /** Gives up what was published for nothing: what decided changed in between. */
  async function abandon(user: number, staged: Staged): Promise<void> {
    await unattended.write((tx) => contents.abandon(tx, user, staged, clock.now()))
    await history.trim(user)
  }

  return {
    begin(staged: Staged, flight: AdmittedUpload | undefined, done: () => void): void {
      landings.set(staged, { user: flight?.user, done })
      // What is in memory takes nothing of the disk.
      if (!staged.arrival) done()
    },

    /** Says, before `settle`, that rows point to it now. */
    keep: (staged: Staged) => void stored.add(staged),

    /** Ends what was begun, once and in any case. */
    async settle(staged: Staged): Promise<void> {
      const landing = landings.get(staged)
      landings.delete(staged)
      try {
        const isLeft = staged.arrival && staged.seen !== undefined && !stored.has(staged)
        // What fails here is left to the collector.
        if (isLeft && landing?.user !== undefined) await abandon(landing.user, staged).catch(() => undefined)
        await contents.drop(staged)
      } finally {
        landing?.done()
      }
    },
  }
}
