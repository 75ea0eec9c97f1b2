import type { Clock } from '../../base/clock.ts'
import type { Account } from '../auth/credentials.ts'
import { flush, type Line } from '../replica/exchange.ts'
import { replicaFile, knownAccount } from '../replica/replica-file.ts'
import { openReplica, type Replica } from '../replica/replica.ts'
import { readPage, InvalidRows } from '../replica/row-decoding.ts'

interface Parts {
  stateFolder: string
  account: Account
  line: Line
  clock: Clock
  /** Called after queued changes were sent, with the number that need a decision. */
  sent: (changes: number, rejected: number) => void
}

/** The account's rows while folders are watched: feed pages are applied, and changes are sent when the server answers. */
export function makeReplicaWatch({ stateFolder, account, line, clock, sent }: Parts) {
  /** Nothing is known of the account before its first run. */
  async function withCopy(work: (copy: Replica) => Promise<void>): Promise<void> {
    const owner = await knownAccount(stateFolder, account)
    if (!owner) return
    const { copy } = openReplica(replicaFile(stateFolder, owner), owner, clock)
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
        const flushed = await flush(line, copy, { mayPostpone: true })
        if (flushed.sent + flushed.rejected > 0) sent(flushed.sent, flushed.rejected)
      }),
    learn: (answer: unknown, since: number): Promise<void> =>
      withCopy(async (copy) => {
        try {
          copy.learn(readPage(answer, since, line.api.url), since)
        } catch (error) {
          // The next run requests the page again and reports the problem.
          if (!(error instanceof InvalidRows)) throw error
        }
      }),
  }
}
