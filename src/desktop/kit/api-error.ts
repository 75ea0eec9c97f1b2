import type { SerializedError } from '../wire/protocol.ts'
import { english, german } from './error-messages.ts'
import { catalogue, language } from './language.ts'

/** Thrown by every call of the bridge that the server refuses or that does not reach it. */
export class ApiError extends Error {
  override name = 'ApiError'
  /** A code of the contract, or `unreachable`. */
  readonly code: string
  readonly fields: Record<string, unknown>
  /** Seconds until another attempt makes sense. */
  readonly retryAfter: number | undefined

  constructor({ code, message, fields = {}, retryAfter }: SerializedError) {
    super(message)
    this.code = code
    this.fields = fields
    this.retryAfter = retryAfter
  }
}

const wholeSeconds = (seconds: number | undefined): number => Math.max(1, Math.ceil(seconds ?? 1))

const text = catalogue(english, german)

/** Describes an error to users, in the language of the desktop. */
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
      // The details are in English.
      return message === '' || language.value !== 'en' ? text(code) : `${text(code)} (${message})`
    default:
      if (Object.hasOwn(english, code)) return text(code as 'unknown')
      // A newer server knows more codes.
      return message === '' ? text('unknown') : message
  }
}

/** Problems of single fields as the server describes them, by field name. */
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
