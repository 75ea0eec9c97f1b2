import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyAction } from '../contract/contract.ts'
import { fault } from '../contract/errors.ts'
import { LIMIT_WINDOW, type LimitName } from '../contract/limits.ts'
import type { SignedIn } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import type { Limiter } from './limiter.ts'

const BEARER = /^Bearer +([0-9a-f]{64})$/i

/** Whose request it is. If there is an Authorization header, only it counts. Fault `unauthorized`. */
async function identify(domain: Domain, request: FastifyRequest): Promise<SignedIn> {
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1]
  const caller = token && (await domain.accounts.authenticateDevice(token, request.ip))
  if (!caller) throw fault('unauthorized')
  return caller
}

async function limit(
  domain: Domain,
  limiter: Limiter,
  name: LimitName,
  caller: SignedIn,
  reply: FastifyReply,
): Promise<void> {
  const values = await domain.instance.settings.values()
  if (!values['limits.enabled']) return
  const verdict = limiter.take(`${caller.device.token_id} ${name}`, values[`limits.${name}`])
  void reply.header('ratelimit-limit', verdict.limit)
  void reply.header('ratelimit-remaining', verdict.remaining)
  void reply.header('ratelimit-reset', verdict.reset)
  if (verdict.retryAfter > 0) {
    const text = `At most ${verdict.limit} such requests in ${LIMIT_WINDOW} seconds; try again in ${verdict.retryAfter}.`
    throw fault('rate_limited', { text, retryAfter: verdict.retryAfter })
  }
}

/**
 * What stands before every action, in this order and before a body is read: is the service set up, who is calling, is it
 * under maintenance, may they, and not too often. Returns the caller, undefined for actions that are anyone's.
 */
export async function guard(
  domain: Domain,
  limiter: Limiter,
  action: AnyAction,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedIn | undefined> {
  const { auth, openIn = [], limit: limitName } = action
  if (!openIn.includes('setup') && !(await domain.instance.isSetUp())) throw fault('setup_required')
  if (auth === 'anyone') return undefined
  const caller = await identify(domain, request)
  if (!openIn.includes('maintenance') && caller.user.role !== 'admin') {
    const maintenance = await domain.instance.settings.maintenance()
    if (maintenance) throw domain.instance.maintenanceFault(maintenance)
  }
  if (auth.admin && caller.user.role !== 'admin') throw fault('forbidden')
  if (limitName !== 'none') await limit(domain, limiter, limitName, caller, reply)
  return caller
}
