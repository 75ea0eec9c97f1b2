import { assistant } from '../../contract/assistant.ts'
import { handle } from '../handler.ts'
import { answer } from './answer.ts'

export const confirm = handle(
  assistant.actions.confirm,
  ({ params: { stream, ...word }, caller, domain, signal, report }) =>
    answer({ stream, signal: signal(), report }, (waiting) => domain.assistant.confirm(caller.user, word, waiting)),
)
