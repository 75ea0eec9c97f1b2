import { MINUTE, SECOND } from '../../../base/clock.ts'
import { randomHex } from '../../../base/random.ts'
import { makeBackoff } from '../../../base/retry.ts'
import { sleep } from '../../../base/sleep.ts'
import { Busy } from '../../../base/errors.ts'
import { listed } from './s3-listing.ts'
import type { S3Location } from './s3-location.ts'
import type { S3Answer, S3Requests } from './s3-request.ts'
import { isRefusedUnprocessed, S3Failure } from './s3-errors.ts'

// Serializes the removal of a content with a concurrent upload, on a store without conditional deletes.
//
// A removal writes its own marker `doomed/<sha256>/<random>`, then checks the age of the content, deletes it only if it is
// old enough, and deletes the marker last. An upload sends the content, waits until it has no marker, and then checks that
// it exists: if not, it is sent again.
//
// Either the removal checks after the upload, finds the content young and keeps it; or its marker existed before, and the
// upload does not check until the deletion is done. Each removal has its own marker: with a shared one, the first removal
// to end would delete the marker of another that is still about to delete the content.
//
// A process may die or pause in between. Time limits use the store's clock: the signature of a deletion expires a minute
// after the check, and none is sent if the check came more than a minute after the marker. So a marker older than ten
// minutes is abandoned: the upload deletes it and sends again. If the outcome of a deletion is unknown, because the
// connection broke, its marker remains until then.

/** Time limit from the marker to the check of the age, and from the check to the deletion; ms. */
const STEP_LIMIT = MINUTE
/** Age from which a marker is abandoned, ms. */
const ABANDONED = 10 * MINUTE
/** S3 times have a resolution of a second. */
const RESOLUTION = SECOND
/** Most attempts to send a content. */
const MAX_ATTEMPTS = 5
/** Delays between checks, ms. */
const CHECK_DELAYS = { first: 50, longest: SECOND }

const markersOf = (sha256: string) => `doomed/${sha256}/`

export interface Facts {
  size: number
  /** Latest time at which the object was sent, epoch ms by this machine's clock. */
  touched: number
  answer: S3Answer
}

/** Latest time an object was sent, by this machine's clock: S3 times are whole seconds of the store's clock. */
export const touchedAt = (modified: number, ahead: number): number => modified + RESOLUTION + ahead

/** Size and age of an object; undefined if it is missing. */
export async function factsOf({ ask }: S3Requests, key: string, signal?: AbortSignal): Promise<Facts | undefined> {
  try {
    const answer = await ask({ method: 'HEAD', key, ...(signal && { signal }) })
    const modified = Date.parse(answer.headers.get('last-modified') ?? '')
    // Without a time it counts as new: nothing is removed on a guess.
    const touched = Number.isNaN(modified) ? Infinity : touchedAt(modified, answer.ahead)
    return { size: Number(answer.headers.get('content-length')), touched, answer }
  } catch (error) {
    if (error instanceof S3Failure && error.status === 404) return undefined
    throw error
  }
}

/** Whether a deletion is known to have failed: the store understood and refused. */
const isRefused = (error: unknown): boolean =>
  error instanceof S3Failure || ((error as Error).cause !== undefined && isRefusedUnprocessed((error as Error).cause))

/** Whether a deletion arrived after its signature expired. */
const isLate = (error: unknown): boolean =>
  error instanceof S3Failure && error.code === 'AccessDenied' && /expired/i.test(error.said)

/** Removes an object last sent before a time of this machine's clock; false if it is younger or missing. */
export async function removeOld(requests: S3Requests, key: string, sha256: string, before: number): Promise<boolean> {
  const found = await factsOf(requests, key)
  if (!found || found.touched >= before) return false
  const marker = `${markersOf(sha256)}${randomHex(8)}`
  let isOver = true
  try {
    const marked = await requests.ask({ method: 'PUT', key: marker })
    const facts = await factsOf(requests, key)
    if (!facts || facts.touched >= before) return false
    const from = facts.answer.storeTime
    if (from - marked.storeTime > STEP_LIMIT) return false
    isOver = false
    await requests.ask({
      method: 'DELETE',
      key,
      within: { from, seconds: STEP_LIMIT / SECOND },
      again: isRefusedUnprocessed,
    })
    isOver = true
    return true
  } catch (error) {
    isOver ||= isRefused(error)
    if (isLate(error)) return false
    throw error
  } finally {
    if (isOver) await requests.ask({ method: 'DELETE', key: marker }).catch(() => undefined)
  }
}

/** Waits until no removal of a content is in progress. True if an abandoned marker was deleted. */
async function waitForRemovals(
  requests: S3Requests,
  place: S3Location,
  sha256: string,
  most: number,
): Promise<boolean> {
  let wasAbandoned = false
  const backoff = makeBackoff({ ...CHECK_DELAYS, attempts: most + 1 })
  for (;;) {
    let isMarked = false
    for await (const { key, modified, storeTime } of listed(requests, place, markersOf(sha256), 1_000)) {
      if (storeTime - modified < ABANDONED) isMarked = true
      else {
        await requests.ask({ method: 'DELETE', key })
        wasAbandoned = true
      }
    }
    if (!isMarked) return wasAbandoned
    const wait = backoff.next()
    if (wait === undefined) throw new Busy('This content is being removed from the store. Try again in a few minutes.')
    await sleep(wait)
  }
}

/** Calls `send` again after a removal. Checks for removals at most `most` times, then throws `Busy`. */
export async function sendPersistently(
  requests: S3Requests,
  place: S3Location,
  { key, sha256, checks }: { key: string; sha256: string; checks: number },
  send: () => Promise<void>,
): Promise<void> {
  for (let sendings = 0; sendings < MAX_ATTEMPTS; sendings += 1) {
    await send()
    if (await waitForRemovals(requests, place, sha256, checks)) continue
    if (await factsOf(requests, key)) return
  }
  throw new Busy(`The store ${place.name} loses what was sent to it. Try again in a moment.`)
}
