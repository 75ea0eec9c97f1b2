import type { Clock } from '../../base/clock.ts'
import type { Account } from '../credentials.ts'
import { flush, type Line } from '../row-copy/exchange.ts'
import { copyFile, knownOwner } from '../row-copy/place.ts'
import { openRowCopy, type RowCopy } from '../row-copy/row-copy.ts'
import { readPage, UnsoundRows } from '../row-copy/sound.ts'

interface Parts {
  stateFolder: string
  account: Account
  line: Line
  clock: Clock
  /** Told when changes were sent that had waited, and how many of them need a decision. */
  sent: (changes: number, letters: number) => void
}

/** The account's rows while folders are watched: they take in what the feed says, and go out as soon as the server answers. */
export function makeReplicaWatch({ stateFolder, account, line, clock, sent }: Parts) {
  /** Nothing is known of the account before its first run. */
  async function withCopy(work: (copy: RowCopy) => Promise<void>): Promise<void> {
    const owner = await knownOwner(stateFolder, account)
    if (!owner) return
    const { copy } = openRowCopy(copyFile(stateFolder, owner), owner, clock)
    try {
      await work(copy)
    } finally {
      copy.close()
    }
  }

  return {
    send: (): Promise<void> =>
      withCopy(async (copy) => {
        if (copy.count().waiting === 0) return
        const flushed = await flush(line, copy)
        if (flushed.sent + flushed.letters > 0) sent(flushed.sent, flushed.letters)
      }),
    learn: (answer: unknown, since: number): Promise<void> =>
      withCopy(async (copy) => {
        try {
          copy.learn(readPage(answer, since, line.api.url), since)
        } catch (error) {
          // The next run asks for the page again and reports the problem.
          if (!(error instanceof UnsoundRows)) throw error
        }
      }),
  }
}
