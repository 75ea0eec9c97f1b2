import { fault } from '../contract/errors.ts'
import { withAuthority, type Accounts, type Authority, type Caller } from '../domain/accounts/accounts.ts'

/** Tolerance in ms within which the end of an access and its last use count as simultaneous. */
export const RECHECK_TOLERANCE_MS = 20

/** A check throws the fault that the guard would now refuse the request with. */
export interface Access {
  /** Checks again unless the last check is less than `within` ms old. */
  recheck(within?: number): Promise<void>
  /** Rechecks access in each transaction until the response and the promise of `completion` are done. */
  run<T>(answer: () => Promise<T>, completion: (answered: T) => Promise<void> | undefined): Promise<T>
  /** Calls `ended` when the token or session ends. Returns a function that stops watching. */
  watch(ended: (refusal: Error) => void): () => void
}

interface AccessOptions {
  accounts: Pick<Accounts, 'watchAccess'>
  caller: Caller
  /** The check itself, on committed state or inside a transaction. */
  check: (...on: [] | Parameters<Authority>) => Promise<void>
  /** Start of the guard's own check, as `performance.now()`. */
  checkedAt: number
}

/** Access of one request, from the guard's check on. */
export function makeAccess({ accounts, caller, check, checkedAt }: AccessOptions): Access {
  // A refusal is final: nothing else of this request may pass.
  let refusal: Error | undefined

  async function recheck(within: number, ...on: [] | Parameters<Authority>): Promise<void> {
    if (refusal) throw refusal
    const now = performance.now()
    if (now - checkedAt < within) return
    try {
      await check(...on)
    } catch (error) {
      refusal = error as Error
      throw error
    }
    checkedAt = now
  }

  return {
    recheck: (within = 0) => recheck(within),
    async run(answer, completion) {
      let hasEnded = false
      // Work that outlives the request, such as the assistant's reply in a room, is not bound to its access.
      const authority: Authority = async (tx) => (hasEnded ? undefined : recheck(RECHECK_TOLERANCE_MS, tx))
      const end = () => void (hasEnded = true)
      try {
        const answered = await withAuthority(caller.user.id, authority, answer)
        const more = completion(answered)
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
