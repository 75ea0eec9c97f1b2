import { isFault } from '../../contract/errors.ts'
import { DELTA_LIMIT } from '../../contract/limits.ts'
import { syncData } from '../../contract/sync-data.ts'
import { isWritable } from '../../contract/tables.ts'
import type { Answer } from '../../contract/define.ts'
import type { Api } from '../api.ts'
import type { Outcome } from '../rows/operation.ts'
import type { Throttle } from '../http/throttle.ts'
import { Unreachable } from '../errors.ts'
import { operationOf } from './change-queue.ts'
import type { Page, Waiting } from './replica-records.ts'
import type { Replica } from './replica.ts'
import { readEverything, readOutcomes, readPage, InvalidRows } from './row-decoding.ts'
import { Refused } from '../refused.ts'

const { delta, initial_sync: initialSync, push } = syncData.actions

/** The connection for replica requests. */
export interface Line {
  api: Api
  throttle: Throttle
  signal?: AbortSignal
  /** Idle timeout, ms. */
  timeout?: number
}

export interface Flushed {
  /** Changes accepted by the server. */
  sent: number
  /** Changes newly rejected. */
  rejected: number
  /** Why the server accepts no changes at the moment; the rest stays queued. */
  postponed?: Error
}

interface FlushOptions {
  /** During maintenance, return instead of throwing: the server may accept no changes while reading continues. */
  mayPostpone?: boolean
  /** Changes whose results the caller awaits, by `seq`. */
  awaited?: ReadonlySet<number>
  /** Receives those results, also if a later request fails. */
  outcomes?: Map<number, Outcome>
  /** Called for each answered batch. */
  onBatch?: (changes: number) => void
}

/** Most attempts to rebase a change on a row that keeps changing. */
const TRIES = 5
/** Most pages followed: a feed without an end is an error. */
const PAGES = 10_000

const optionsOf = ({ signal, timeout }: Line) => ({ ...(signal ? { signal } : {}), ...(timeout ? { timeout } : {}) })

/** A request rejected because of its content, not the state of the server. */
const isInvalidRequest = (error: unknown): error is Error & { code: string } =>
  isFault(error, 'bad_request') || isFault(error, 'too_large')

/** Sends the queue in order. Permanently rejected changes do not block others. */
export async function flush(
  line: Line,
  copy: Replica,
  { mayPostpone = false, awaited = new Set(), outcomes = new Map(), onBatch }: FlushOptions = {},
): Promise<Flushed> {
  const flushed: Flushed = { sent: 0, rejected: 0 }
  const tries = new Map<number, number>()
  let max: number | undefined
  for (;;) {
    line.signal?.throwIfAborted()
    const batch = copy.nextBatch(max)
    const tired = batch.some(({ seq }) => (tries.get(seq) ?? 0) >= TRIES)
    if (batch.length === 0 || tired) return flushed
    try {
      const results = await send(line, copy, batch)
      for (const [index, result] of copy.settle(batch, results, awaited).entries()) {
        const { seq } = batch[index]!
        if (results[index]!.status === 'conflict') tries.set(seq, (tries.get(seq) ?? 0) + 1)
        if (result !== 'again' && awaited.has(seq)) outcomes.set(seq, results[index]!)
        if (results[index]!.ok) flushed.sent += 1
        if (result === 'rejected') flushed.rejected += 1
      }
      max = undefined
      onBatch?.(batch.length)
    } catch (error) {
      if (mayPostpone && isFault(error, 'maintenance')) return { ...flushed, postponed: error }
      if (!isInvalidRequest(error)) throw error
      if (batch.length > 1) max = Math.ceil(batch.length / 2)
      else {
        const [only] = batch
        const why = { code: error.code, message: error.message }
        if (copy.refuse(only!, why, awaited) === 'rejected') flushed.rejected += 1
        if (awaited.has(only!.seq)) outcomes.set(only!.seq, refusal(only!, why))
        max = undefined
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

/** Whether an error means that the server did nothing. */
const isCertain = (error: unknown): boolean => isFault(error) || (error instanceof Unreachable && !error.outcomeUnknown)

/** Sends a batch; marks it as not sent if it certainly did not arrive. */
async function send(line: Line, copy: Replica, batch: readonly Waiting[]): Promise<Outcome[]> {
  const operations = batch.map(operationOf)
  // Every operation has an op_id, so repeating it is safe.
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
  const text = `${url} is not the server that the rows on this machine belong to: sign in again with svc login. Nothing was changed.`
  throw new Refused('other_account', text)
}

export interface Pulled {
  received: number
  /** Whether the server was restored: then all rows were compared again. */
  restored: boolean
}

/** The next page after the known cursor; undefined if the server cannot continue from there. */
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

/** Updates the replica with the changes since the cursor, or else with all rows. */
export async function pull(line: Line, copy: Replica): Promise<Pulled> {
  if (!copy.hasAllTables()) return pullAll(line, copy)
  let received = 0
  for (let pages = 1; pages <= PAGES; pages += 1) {
    const next = await nextPage(line, copy)
    if (!next) return pullAll(line, copy)
    received += copy.learn(next.page, next.since)
    if (!next.page.more) return { received, restored: false }
  }
  throw new InvalidRows(`${line.api.url} sends changes without end: it is not a valid svc server.`)
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
