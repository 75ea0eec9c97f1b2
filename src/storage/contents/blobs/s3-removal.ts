import { MINUTE, SECOND } from '../../../base/clock.ts'
import { randomHex } from '../../../base/random.ts'
import { makeBackoff } from '../../../base/retry.ts'
import { sleep } from '../../../base/sleep.ts'
import { Busy } from '../../../base/errors.ts'
import { listed } from './s3-listing.ts'
import type { S3Location } from './s3-location.ts'
import type { S3Answer, S3Requests } from './s3-request.ts'
import { isRefusedUnprocessed, S3Failure } from './s3-errors.ts'

// How removing a content and storing it at the same moment agree, on a store that cannot delete on a condition.
//
// Whoever removes writes a marker `doomed/<sha256>/<random>` of its own, looks then at the age of the content, deletes it
// only when that is great enough, and takes the marker away last. Whoever stores sends the content, waits then until it has
// no marker, and looks last whether it is there: if not, it is sent again.
//
// So either the removal's look comes after the content was sent, finds it young and leaves it; or its marker was there
// before, and whoever stores does not look until the deletion is over. Each removal has a marker of its own: with one for
// all, the first to end would take away that of another who is still about to delete.
//
// A process may die or stand still in between. All of that is measured by the store's own clock: a deletion is signed to
// hold for a minute from the look on, and none is asked for when the look came more than a minute after the marker. So a
// marker of ten minutes belongs to nobody: whoever stores takes it away and sends again. Where a deletion's end is not
// known, because the connection broke, its marker stays and ages.

/** Time from the marker to the look after which a removal gives up, and from the look until its deletion is refused; ms. */
const HASTE = MINUTE
/** Age in ms from which on a marker belongs to nobody. */
const ABANDONED = 10 * MINUTE
/** Times are cut to seconds. */
const RESOLUTION = SECOND
/** How often whoever stores sends at most. */
const SENDINGS = 5
/** Milliseconds between looks. */
const LOOKS = { first: 50, longest: SECOND }

const markersOf = (sha256: string) => `doomed/${sha256}/`

export interface Facts {
  size: number
  /** Latest moment by this machine's clock, epoch ms, at which the object was sent. */
  touched: number
  answer: S3Answer
}

/** When an object was sent at the latest, by this machine's clock: what the store says is cut to seconds and by its own. */
export const touchedAt = (modified: number, ahead: number): number => modified + RESOLUTION + ahead

/** Size and age of an object; undefined when it is not there. */
export async function factsOf({ ask }: S3Requests, key: string, signal?: AbortSignal): Promise<Facts | undefined> {
  try {
    const answer = await ask({ method: 'HEAD', key, ...(signal && { signal }) })
    const modified = Date.parse(answer.headers.get('last-modified') ?? '')
    // Without a time it is as young as can be: nothing is removed on a guess.
    const touched = Number.isNaN(modified) ? Infinity : touchedAt(modified, answer.ahead)
    return { size: Number(answer.headers.get('content-length')), touched, answer }
  } catch (error) {
    if (error instanceof S3Failure && error.status === 404) return undefined
    throw error
  }
}

/** Whether the end of a deletion is known from its error: the store understood and refused. */
const isRefused = (error: unknown): boolean =>
  error instanceof S3Failure || ((error as Error).cause !== undefined && isRefusedUnprocessed((error as Error).cause))

/** Whether a deletion came after the time it was signed for. */
const isLate = (error: unknown): boolean =>
  error instanceof S3Failure && error.code === 'AccessDenied' && /expired/i.test(error.said)

/** Removes an object last sent before a moment of this machine's clock; false when it is younger or not there. */
export async function removeOld(requests: S3Requests, key: string, sha256: string, before: number): Promise<boolean> {
  const found = await factsOf(requests, key)
  if (!found || found.touched >= before) return false
  const marker = `${markersOf(sha256)}${randomHex(8)}`
  let isOver = true
  try {
    const marked = await requests.ask({ method: 'PUT', key: marker })
    const look = await factsOf(requests, key)
    if (!look || look.touched >= before) return false
    const from = look.answer.storeTime
    if (from - marked.storeTime > HASTE) return false
    isOver = false
    await requests.ask({
      method: 'DELETE',
      key,
      within: { from, seconds: HASTE / SECOND },
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

/** Waits until nobody removes a content any more. True when the marker of a process that is gone was taken away. */
async function removalsOver(requests: S3Requests, place: S3Location, sha256: string, most: number): Promise<boolean> {
  let wasAbandoned = false
  const backoff = makeBackoff({ ...LOOKS, attempts: most + 1 })
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
    if (wait === undefined)
      throw new Busy('This content is just being removed from the store. Try again in some minutes.')
    await sleep(wait)
  }
}

/**
 * Sends an object so that no removal takes it that began before; `send` is called again where one did. While there is one
 * it looks again, so many times at most, for which `Busy` is thrown.
 */
export async function sendToStay(
  requests: S3Requests,
  place: S3Location,
  { key, sha256, looks }: { key: string; sha256: string; looks: number },
  send: () => Promise<void>,
): Promise<void> {
  for (let sendings = 0; sendings < SENDINGS; sendings += 1) {
    await send()
    if (await removalsOver(requests, place, sha256, looks)) continue
    if (await factsOf(requests, key)) return
  }
  throw new Busy(`The store ${place.name} does not keep what it is sent. Try again in a moment.`)
}
