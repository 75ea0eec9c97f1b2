import { describeError, ApiError } from '../../kit/api-error.ts'
import type { Turn } from './turns.ts'
import { words } from './words.ts'

/** Longest wait shown in seconds; beyond it, the daily limit is used up. */
const MAX_WAIT_SHOWN = 3_600

/** Error message of a failed or incomplete answer. `isDecision`: it followed a confirmation. */
export function describeAnswerError({ error, text, tools }: Turn, isDecision: boolean): string {
  if (!(error instanceof ApiError)) return describeError(error)
  switch (error.code) {
    case 'assistant_unavailable':
      return words('unavailable', error.message)
    case 'unreachable':
      return text === '' && tools.length === 0 ? describeError(error) : words('broke_off')
    case 'not_found':
      return words(isDecision ? 'already_decided' : 'conversation_gone')
    case 'gone':
      return words('too_late')
    case 'rate_limited':
      return (error.retryAfter ?? 0) > MAX_WAIT_SHOWN ? words('used_up') : describeError(error)
    default:
      return describeError(error)
  }
}
