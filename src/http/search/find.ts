import { search } from '../../contract/search.ts'
import { handle } from '../handler.ts'

export const find = handle(search.actions.find, ({ params, caller, domain }) =>
  domain.search.find(caller.user.id, params),
)
