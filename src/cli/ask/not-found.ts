import { isFault } from '../../contract/errors.ts'
import { Exit } from '../exit.ts'

const LISTS = { conversation: 'svc ask list', entry: 'svc ask log' }

/** For `catch`: names the conversation or log entry that the server does not have. */
export const explainNotFound =
  (what: keyof typeof LISTS, id: number) =>
  (error: unknown): never => {
    if (!isFault(error, 'not_found')) throw error
    throw new Exit(5, `There is no ${what} ${id}: ${LISTS[what]} lists them.`, 'not_found')
  }
