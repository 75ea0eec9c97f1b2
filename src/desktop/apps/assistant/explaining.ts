import { explain, Trouble } from '../../kit/trouble.ts'
import type { Turn } from './turns.ts'
import { words } from './words.ts'

/** Longest wait that is told in seconds: beyond it, the share of the day is used up. */
const LONGEST_WAIT = 3_600

/** Why an answer was not given or is not whole, in the language of the desktop; `isWord` for one that follows the user's word. */
export function explainAnswer({ trouble, text, tools }: Turn, isWord: boolean): string {
  if (!(trouble instanceof Trouble)) return explain(trouble)
  switch (trouble.code) {
    case 'assistant_unavailable':
      return words('unavailable', trouble.message)
    case 'unreachable':
      return text === '' && tools.length === 0 ? explain(trouble) : words('broke_off')
    case 'not_found':
      return words(isWord ? 'word_taken' : 'conversation_gone')
    case 'gone':
      return words('too_late')
    case 'rate_limited':
      return (trouble.retryAfter ?? 0) > LONGEST_WAIT ? words('used_up') : explain(trouble)
    default:
      return explain(trouble)
  }
}
