import { withRetry } from '../../base/retry.ts'
import { ApiError, isTransient } from './api-error.ts'
import { bridge } from './bridge.ts'

export type Operation = Parameters<typeof bridge.call<'rows.push'>>[1]['operations'][number] & { op_id: string }
type Result = Awaited<ReturnType<typeof bridge.call<'rows.push'>>>['results'][number]

/** Most operations of a request, and most characters of their values. */
const BATCH = 50
const BATCH_SIZE = 2_000_000

/** Most attempts at a request: while it is limited, and after other errors. */
const ATTEMPTS = 20
const ATTEMPTS_AFTER_ERRORS = 4

function* batchesOf(operations: readonly Operation[]): Generator<Operation[]> {
  let batch: Operation[] = []
  let size = 0
  for (const operation of operations) {
    const length = JSON.stringify(operation.data).length
    if (batch.length === BATCH || (batch.length > 0 && size + length > BATCH_SIZE)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(operation)
    size += length
  }
  if (batch.length > 0) yield batch
}

/** Sends the operations of one request. After a lost response, their `op_id`s make it safe to send them again. */
async function pushBatch(operations: Operation[]): Promise<readonly Result[]> {
  let errors = 0
  const { results } = await withRetry(() => bridge.call('rows.push', { operations }), {
    first: 1_000,
    longest: 5_000,
    attempts: ATTEMPTS,
    isTemporary: (error) => isTransient(error) && (error.code === 'rate_limited' || ++errors < ATTEMPTS_AFTER_ERRORS),
    retryAfterOf: (error) => 1_000 * ((error as ApiError).retryAfter ?? 0),
  })
  return results
}

/** Why an operation was refused. */
export const errorOf = ({ ok, code, status, error }: Result): ApiError | undefined =>
  ok ? undefined : new ApiError({ code: code ?? status, message: error ?? '' })

/** Sends operations in batches; meanwhile the window asks before it closes. One that is refused does not stop the others. */
export const pushRows = (
  operations: readonly Operation[],
  onResult: (result: Result, index: number) => void,
): Promise<void> =>
  bridge.whileUnsaved(async () => {
    let index = 0
    for (const batch of batchesOf(operations)) for (const result of await pushBatch(batch)) onResult(result, index++)
  })

/** Carries out what can be carried out, then throws the first error. Rows that are gone need no change. */
export async function changeRows(operations: readonly Operation[]): Promise<void> {
  const errors: ApiError[] = []
  await pushRows(operations, (result) => {
    const error = errorOf(result)
    if (error && error.code !== 'gone') errors.push(error)
  })
  if (errors[0]) throw errors[0]
}
