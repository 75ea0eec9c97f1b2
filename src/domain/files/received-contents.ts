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

/** Discards received contents that no row references in the end. */
export function makeReceivedContents({ unattended, contents, clock, history }: Parts) {
  /** Received contents with their user and the callback for when their bytes are stored or discarded. */
  const uploads = new WeakMap<Staged, { user: number | undefined; done: () => void }>()
  /** Published contents that a row references. */
  const stored = new WeakSet<Staged>()

  /** Abandons a published content whose transaction failed. */
  async function abandon(user: number, staged: Staged): Promise<void> {
    await unattended.write({ accounts: [user], keys: [staged.sha256] }, (tx) =>
      contents.abandon(tx, user, staged, clock.now()),
    )
    await history.trim(user)
  }

  return {
    begin(staged: Staged, flight: AdmittedUpload | undefined, done: () => void): void {
      uploads.set(staged, { user: flight?.user, done })
      // Contents in memory use no disk space.
      if (!staged.arrival) done()
    },

    /** Marks a content as referenced, before `settle`. */
    keep: (staged: Staged) => void stored.add(staged),

    /** Ends the handling of a content; called exactly once. */
    async settle(staged: Staged): Promise<void> {
      const upload = uploads.get(staged)
      uploads.delete(staged)
      try {
        const isLeft = staged.arrival && staged.seen !== undefined && !stored.has(staged)
        // A failure is left to the collector.
        if (isLeft && upload?.user !== undefined) await abandon(upload.user, staged).catch(() => undefined)
        await contents.drop(staged)
      } finally {
        upload?.done()
      }
    },
  }
}
