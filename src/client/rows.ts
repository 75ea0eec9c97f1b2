import type { Answer } from '../contract/define.ts'
import { PUSH_BODY, PUSH_OPERATIONS } from '../contract/limits.ts'
import { syncData } from '../contract/sync-data.ts'
import type { FeedTable } from '../contract/tables.ts'
import { byteLength } from '../base/text.ts'
import type { Api } from './api.ts'
import { patiently, type Patience } from './patience.ts'
import type { Row } from './row-values.ts'
import { Unreachable } from './trouble.ts'

export interface Operation {
  table: FeedTable
  operation: 'INSERT' | 'UPDATE' | 'DELETE'
  data: Row
  /** UUID: however often the operation is sent, the server carries it out once. */
  op_id: string
  base_version?: number
}

export type Outcome = Answer<typeof syncData.actions.push>['results'][number]

/** Every row of one table, as the server has it now. */
export async function readRows(api: Api, table: FeedTable, patience: Patience): Promise<Row[]> {
  const { data } = await patiently(() => api.call(syncData.actions.initial_sync, {}), patience)
  if (typeof data !== 'object' || data === null) throw new Unreachable(`${api.url} sent no sound list of rows.`)
  return data[table] ?? []
}

/** Sends operations in as few requests as the limits allow and yields the outcomes of each request, in order. */
export async function* push(api: Api, operations: readonly Operation[], patience: Patience): AsyncGenerator<Outcome[]> {
  for (const batch of batches(operations)) {
    const { results } = await decided(() => patiently(() => send(api, batch), patience), patience)
    if (!Array.isArray(results) || results.length !== batch.length) {
      throw new Unreachable(
        `${api.url} answered ${results?.length ?? 'no'} results to ${batch.length} changes: it is not a sound svc server.`,
      )
    }
    yield results
  }
}

// Every operation carries an op_id, so sending it a second time changes nothing.
const send = (api: Api, operations: Operation[]) =>
  api.call(syncData.actions.push, { operations }, { repeatable: true })

const PAUSES = [1_000, 3_000, 9_000]

/** Sends again when the connection broke and nobody knows whether the server had carried it out. */
async function decided<T>(call: () => Promise<T>, { sleep }: Patience): Promise<T> {
  for (const pause of PAUSES) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof Unreachable && error.undecided)) throw error
      await sleep(pause)
    }
  }
  return call()
}

/** What stands around the operations in the body, generously. */
const ENVELOPE = 1_024

function* batches(operations: readonly Operation[]): Generator<Operation[]> {
  let batch: Operation[] = []
  let bytes = ENVELOPE
  for (const operation of operations) {
    const size = byteLength(JSON.stringify(operation)) + 1
    if (batch.length > 0 && (batch.length === PUSH_OPERATIONS || bytes + size > PUSH_BODY)) {
      yield batch
      batch = []
      bytes = ENVELOPE
    }
    batch.push(operation)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
