import { badRequest } from '../../contract/errors.ts'
import { syncData } from '../../contract/sync-data.ts'
import { handle } from '../handler.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

export const push = handle(syncData.actions.push, async ({ params, caller, domain, headers }) => {
  const key = headers['idempotency-key']
  if (key !== undefined && !KEY.test(key)) throw badRequest('Idempotency-Key', 'must be 1 to 255 printable characters')
  return domain.sync.push(caller.user.id, params, key)
})
