import { ApiError } from './api-error.ts'
import { bridge } from './bridge.ts'

/** Most times that a request waits for its rate limit. */
const MAX_WAITS = 20

type Operations = Parameters<typeof bridge.call<'rows.push'>>[1]['operations']

/** Sends operations of one request; the limit of requests only delays them. */
export async function pushRows(operations: Operations) {
  for (let waits = 0; ; waits++) {
    try {
      return (await bridge.call('rows.push', { operations })).results
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'rate_limited' || waits === MAX_WAITS) throw error
      await new Promise((resolve) => setTimeout(resolve, 1_000 * (error.retryAfter ?? 1)))
    }
  }
}
