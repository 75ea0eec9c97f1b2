import { assistant } from '../../contract/assistant.ts'
import { handle } from '../handler.ts'
import { answer } from './answer.ts'

export const ask = handle(
  assistant.actions.ask,
  ({ params: { stream, ...question }, caller, domain, signal, report }) =>
    answer({ stream, signal: signal(), report }, (waiting) => domain.assistant.ask(caller.user, question, waiting)),
)
