import { isFault } from '../../contract/errors.ts'
import { DELTA_LIMIT } from '../../contract/limits.ts'
import { syncData } from '../../contract/sync-data.ts'
import { isWritable } from '../../contract/tables.ts'
import type { Answer } from '../../contract/define.ts'
import type { Api } from '../api.ts'
import type { Outcome } from '../rows.ts'
import type { Throttle } from '../http/throttle.ts'
import { Unreachable } from '../errors.ts'
import { operationOf } from './queue.ts'
import type { Page, Waiting } from './records.ts'
import type { Replica } from './replica.ts'
import { readEverything, readOutcomes, readPage, InvalidRows } from './decode.ts'
import { Refused } from '../refused.ts'

const { delta, initial_sync: initialSync, push } = syncData.actions

/** The way to the server, and how a request is asked. */
export interface Line {
  api: Api
  throttle: Throttle
  signal?: AbortSignal
  /** Milliseconds without a byte before a request is given up. */
  timeout?: number
}

export interface Flushed {
  /** Changes that the server has now. */
  sent: number
  /** Changes that need a decision since this time. */
  rejected: number
}

interface FlushOptions {
  /** Changes whose results the caller waits for, by `seq`. */
  awaited?: ReadonlySet<number>
  /** Gets what became of those, also when a later request fails. */
  outcomes?: Map<number, Outcome>
  /** Told of each batch that was answered. */
  onBatch?: (changes: number) => void
}

/** How often a change is compared anew with a row that changes all the time. */
const TRIES = 5
/** Pages of a feed that does not end are not followed for ever. */
const PAGES = 10_000

const optionsOf = ({ signal, timeout }: Line) => ({ ...(signal ? { signal } : {}), ...(timeout ? { timeout } : {}) })

/** A request that is refused as a whole because of what is in it, whatever the server is doing. */
const isPoisoned = (error: unknown): error is Error & { code: string } =>
  isFault(error, 'bad_request') || isFault(error, 'too_large')

/** Sends what waits, in its order, until nothing is left to be sent. What the server refuses for good stands in no other's way. */
export async function flush(
  line: Line,
  copy: Replica,
  { awaited = new Set(), outcomes = new Map(), onBatch }: FlushOptions = {},
): Promise<Flushed> {
  const flushed: Flushed = { sent: 0, rejected: 0 }
  const tries = new Map<number, number>()
  let most: number | undefined
  for (;;) {
    line.signal?.throwIfAborted()
    const batch = copy.nextBatch(most)
    const tired = batch.some(({ seq }) => (tries.get(seq) ?? 0) >= TRIES)
    if (batch.length === 0 || tired) return flushed
    try {
      const results = await send(line, copy, batch)
      for (const [index, fate] of copy.settle(batch, results, awaited).entries()) {
        const { seq } = batch[index]!
        if (results[index]!.status === 'conflict') tries.set(seq, (tries.get(seq) ?? 0) + 1)
        if (fate !== 'again' && awaited.has(seq)) outcomes.set(seq, results[index]!)
        if (results[index]!.ok) flushed.sent += 1
        if (fate === 'rejected') flushed.rejected += 1
      }
      most = undefined
      onBatch?.(batch.length)
    } catch (error) {
      if (!isPoisoned(error)) throw error
      if (batch.length > 1) most = Math.ceil(batch.length / 2)
      else {
        const [only] = batch
        const why = { code: error.code, message: error.message }
        if (copy.refuse(only!, why, awaited) === 'rejected') flushed.rejected += 1
        if (awaited.has(only!.seq)) outcomes.set(only!.seq, refusal(only!, why))
        most = undefined
      }
    }
  }
}

const refusal = ({ table, verb, row }: Waiting, { code, message }: { code: string; message: string }): Outcome => ({
  index: 0,
  ok: false,
  status: 'error',
  table,
  operation: verb,
  id: row > 0 ? row : null,
  version: null,
  code,
  error: message,
})

/** Whether an error says that the server carried nothing out. */
const isCertain = (error: unknown): boolean => isFault(error) || (error instanceof Unreachable && !error.outcomeUnknown)

/** Sends a batch; one that surely did not arrive is marked so when this fails. */
async function send(line: Line, copy: Replica, batch: readonly Waiting[]): Promise<Outcome[]> {
  const operations = batch.map(operationOf)
  // Every operation carries an op_id, so sending it a second time changes nothing.
  const options = { ...optionsOf(line), repeatable: true }
  let certain = true
  const request = async () => {
    try {
      return await line.api.call(push, { operations }, options)
    } catch (error) {
      certain &&= isCertain(error)
      throw error
    }
  }
  let answer: Answer<typeof push>
  try {
    answer = await line.throttle(push, request)
  } catch (error) {
    if (certain) copy.unsent(batch)
    throw error
  }
  return readOutcomes(answer, batch, line.api.url)
}

function assertServer(copy: Replica, server_id: string, url: string): void {
  if (server_id === copy.owner.server_id) return
  const text = `${url} is another server than the one that the rows on this machine belong to: sign in again with svc login. Nothing was changed.`
  throw new Refused('other_account', text)
}

export interface Pulled {
  /** Rows that changed. */
  received: number
  /** Whether the server went back in time: then both sides were compared anew. */
  restored: boolean
}

/** The next page after what is known; undefined when the server does not go on from there. */
async function nextPage(
  { api, throttle, ...line }: Line,
  copy: Replica,
): Promise<{ page: Page; since: number } | undefined> {
  const at = copy.place()
  if (!at) return undefined
  const params = { cursor: at.cursor, limit: DELTA_LIMIT.max, ...(at.epoch === '' ? {} : { epoch: at.epoch }) }
  try {
    const answer = await throttle(delta, () => api.call(delta, params, optionsOf({ api, throttle, ...line })))
    const page = readPage(answer, at.cursor, api.url)
    assertServer(copy, page.server_id, api.url)
    return page.epoch === at.epoch ? { page, since: at.cursor } : undefined
  } catch (error) {
    if (isFault(error, 'epoch_mismatch') || isFault(error, 'cursor_expired')) return undefined
    throw error
  }
}

/** Brings the copy up to date: what changed since, or every row where that cannot be told. */
export async function pull(line: Line, copy: Replica): Promise<Pulled> {
  let received = 0
  for (let pages = 1; pages <= PAGES; pages += 1) {
    const next = await nextPage(line, copy)
    if (!next) return pullAll(line, copy)
    received += copy.learn(next.page, next.since)
    if (!next.page.more) return { received, restored: false }
  }
  throw new InvalidRows(`${line.api.url} sends changes without end: it is not a sound svc server.`)
}

async function pullAll(line: Line, copy: Replica): Promise<Pulled> {
  const { api } = line
  const answer = await line.throttle(initialSync, () => api.call(initialSync, {}, optionsOf(line)))
  const everything = readEverything(answer, api.url)
  assertServer(copy, everything.server_id, api.url)
  const restored = copy.begin(everything)
  const own = [...everything.rows].filter(([table]) => isWritable(table))
  return { received: own.reduce((sum, [, { length }]) => sum + length, 0), restored }
}
