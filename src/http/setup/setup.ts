import { setup as endpoint } from '../../contract/setup.ts'
import { handle } from '../handler.ts'

const setup = handle(endpoint.actions.setup, async ({ params, origin, domain }) => ({
  user: await domain.accounts.setup.complete(params, origin),
}))

export const setupHandlers = [setup]
