import { session as endpoint } from '../../contract/session.ts'
import { handle } from '../handler.ts'

const session = handle(
  endpoint.actions.session,
  ({
    caller: {
      user,
      session: { csrf_token },
    },
  }) => Promise.resolve({ user, csrf_token }),
)

export const sessionHandlers = [session]
