import type { SerializedError } from '../wire/protocol.ts'
import { english, german } from './error-messages.ts'
import { catalogue, language } from './language.ts'

/** Thrown when the server refuses a call of the bridge or cannot be reached. */
export class ApiError extends Error {
  override name = 'ApiError'
  /** A code of the contract, or `unreachable`. */
  readonly code: string
  readonly fields: Record<string, unknown>
  /** Seconds until a retry makes sense. */
  readonly retryAfter: number | undefined

  constructor({ code, message, fields = {}, retryAfter }: SerializedError) {
    super(message)
    this.code = code
    this.fields = fields
    this.retryAfter = retryAfter
  }
}

/** Whether the same call may succeed later. */
export const isTransient = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  ['unreachable', 'busy', 'rate_limited', 'maintenance', 'disk_full', 'internal'].includes(error.code)

const wholeSeconds = (seconds: number | undefined): number => Math.max(1, Math.ceil(seconds ?? 1))

const text = catalogue(english, german)

/** Describes an error to users, in the current language. */
export function describeError(error: unknown): string {
  if (!(error instanceof ApiError)) return text('unknown')
  const { code, message, fields, retryAfter } = error
  switch (code) {
    case 'rate_limited':
      return text('rate_limited', wholeSeconds(retryAfter))
    case 'account_locked':
      return text('account_locked', Math.ceil(wholeSeconds(retryAfter) / 60))
    case 'internal':
      return text('internal', typeof fields['request_id'] === 'string' ? ` (${fields['request_id']})` : '')
    case 'bad_request':
      // The server's details are in English.
      return message === '' || language.value !== 'en' ? text(code) : `${text(code)} (${message})`
    default:
      if (Object.hasOwn(english, code)) return text(code as 'unknown')
      // A newer server may send unknown codes.
      return message === '' ? text('unknown') : message
  }
}

/** Error messages of the server by field name. */
export function fieldProblems(error: unknown): Record<string, string> {
  const details = error instanceof ApiError ? error.fields['details'] : undefined
  if (!Array.isArray(details)) return {}
  return Object.fromEntries(
    details.map((detail: { path?: unknown; message?: unknown }) => [
      String(detail.path).replace(/^\//, ''),
      String(detail.message),
    ]),
  )
}
