import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyAction } from '../contract/contract.ts'
import { fault } from '../contract/errors.ts'
import { LIMIT_WINDOW, type LimitName } from '../contract/limits.ts'
import { isInSession, type Caller } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import { refuseForeign, tokenDue } from './cross-site.ts'
import type { Limiter } from './limiter.ts'
import { sessionCookieOf } from './session-cookie.ts'

const BEARER = /^Bearer +([0-9a-f]{64})$/i

/** Who passed the guard, and whether a CSRF token is still to come with the body. */
export interface Admitted {
  caller: Caller | undefined
  csrfDue: boolean
}

/** What guards need. */
export interface Watch {
  domain: Domain
  limiter: Limiter
}

/** Whose request it is. If there is an Authorization header, only it counts. Faults: `unauthorized`, `2fa_required`. */
async function identify({ domain }: Watch, { auth }: AnyAction, request: FastifyRequest): Promise<Caller> {
  const { authorization, cookie } = request.headers
  const allowed = auth === 'anyone' ? {} : auth
  let caller: Caller | undefined
  if (authorization !== undefined) {
    const token = BEARER.exec(authorization)?.[1]
    if (token && allowed.device) caller = await domain.accounts.authenticateDevice(token, request.ip)
  } else if (allowed.session) {
    const id = sessionCookieOf(cookie)
    caller = id === undefined ? undefined : await domain.accounts.sessions.authenticate(id, request.ip)
  }
  if (!caller) throw fault('unauthorized')
  return caller
}

async function limit({ domain, limiter }: Watch, name: LimitName, caller: Caller, reply: FastifyReply): Promise<void> {
  const values = await domain.instance.settings.values()
  if (!values['limits.enabled']) return
  const who = isInSession(caller) ? `user ${caller.user.id}` : `token ${caller.device.token_id}`
  const verdict = limiter.take(`${who} ${name}`, values[`limits.${name}`])
  void reply.header('ratelimit-limit', verdict.limit)
  void reply.header('ratelimit-remaining', verdict.remaining)
  void reply.header('ratelimit-reset', verdict.reset)
  if (verdict.retryAfter > 0) {
    const text = `At most ${verdict.limit} such requests in ${LIMIT_WINDOW} seconds; try again in ${verdict.retryAfter}.`
    throw fault('rate_limited', { text, retryAfter: verdict.retryAfter })
  }
}

/** Whether an action leaves everything as it is: what a service that is read-only still does for everybody. */
const isReading = ({ method, reads }: AnyAction): boolean => method === 'GET' || reads === true

export type Guard = (action: AnyAction, request: FastifyRequest, reply: FastifyReply) => Admitted | Promise<Admitted>

const ANYONE: Admitted = { caller: undefined, csrfDue: false }

/**
 * What stands before every action, in this order and before a body is read: is the service set up, who is calling, is it
 * under maintenance, not too often, not from another site, and may they. Waits only where something has to be looked up.
 */
export function makeGuard(watch: Watch): Guard {
  const { instance } = watch.domain
  const publicUrl = async () => (await instance.settings.values()).public_url

  async function admit(action: AnyAction, request: FastifyRequest, reply: FastifyReply): Promise<Admitted> {
    const { auth, openIn = [], limit: limitName } = action
    if (!openIn.includes('setup') && !(await instance.isSetUp())) throw fault('setup_required')
    if (auth === 'anyone') {
      if (action.sameOrigin) refuseForeign(request, await publicUrl())
      return ANYONE
    }
    const caller = await identify(watch, action, request)
    if (!openIn.includes('maintenance') && caller.user.role !== 'admin') {
      const closed = await instance.closedFor({ changes: !isReading(action) })
      if (closed) throw closed
    }
    if (limitName !== 'none') await limit(watch, limitName, caller, reply)
    let csrfDue = false
    if (isInSession(caller)) {
      refuseForeign(request, await publicUrl())
      csrfDue = action.method === 'POST' && tokenDue(request, caller)
    }
    // With the token still to come, whether the caller may do it is told only to whoever turns out to be the caller.
    if (auth.admin && caller.user.role !== 'admin' && !csrfDue) throw fault('forbidden')
    return { caller, csrfDue }
  }

  return (action, request, reply) => {
    const isOpen = action.auth === 'anyone' && !action.sameOrigin && instance.isSetUp() === true
    return isOpen ? ANYONE : admit(action, request, reply)
  }
}
