import { fault } from '../contract/errors.ts'
import { withAuthority, type Accounts, type Authority, type Caller } from '../domain/accounts/accounts.ts'

/** Within so many ms nobody outside can tell which came first, the end of an access or its last use. */
export const SAME_MOMENT_MS = 20

/** Whether the caller of one request may still make it. A check throws what the guard would now refuse the request with. */
export interface Access {
  /** Checks, unless it was done within so many ms. */
  recheck(within?: number): Promise<void>
  /** Runs what answers the request: each of its transactions checks too, until the answer and what `lasting` waits for are there. */
  run<T>(answer: () => Promise<T>, lasting: (answered: T) => Promise<void> | undefined): Promise<T>
  /** Calls `ended` when the token or session ends. Returns what stops the watch. */
  watch(ended: (refusal: Error) => void): () => void
}

interface Parts {
  accounts: Pick<Accounts, 'watchAccess'>
  caller: Caller
  /** The check itself, on committed state or inside a transaction. */
  look: (...on: [] | Parameters<Authority>) => Promise<void>
  /** When the check that the guard made began, by `performance.now()`. */
  lookedAt: number
}

export function makeAccess({ accounts, caller, look, lookedAt }: Parts): Access {
  // What was refused once stays refused: nothing of the request may get through behind it.
  let refusal: Error | undefined

  async function recheck(within: number, ...on: [] | Parameters<Authority>): Promise<void> {
    if (refusal) throw refusal
    const now = performance.now()
    if (now - lookedAt < within) return
    try {
      await look(...on)
    } catch (error) {
      refusal = error as Error
      throw error
    }
    lookedAt = now
  }

  return {
    recheck: (within = 0) => recheck(within),
    async run(answer, lasting) {
      let isOver = false
      // What a request leaves behind, such as the assistant's answer in a room, goes on without it.
      const authority: Authority = async (tx) => (isOver ? undefined : recheck(SAME_MOMENT_MS, tx))
      const end = () => void (isOver = true)
      try {
        const answered = await withAuthority(authority, answer)
        const more = lasting(answered)
        if (more) more.then(end, end)
        else end()
        return answered
      } catch (error) {
        end()
        throw refusal ?? error
      }
    },
    watch: (ended) =>
      accounts.watchAccess(caller, () => {
        refusal ??= fault('unauthorized')
        ended(refusal)
      }),
  }
}
