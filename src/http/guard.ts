import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyAction } from '../contract/contract.ts'
import type { Auth } from '../contract/define.ts'
import { fault, isFault } from '../contract/errors.ts'
import { DEVICES_AT_ONCE, LIMIT_WINDOW, type LimitName } from '../contract/limits.ts'
import { isInSession, type Authority, type Caller } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import { makeAccess, type Access } from './access.ts'
import { refuseForeign, tokenDue } from './cross-site.ts'
import { addressKey } from '../domain/accounts/address-throttle.ts'
import type { DiskReserve } from './disk-reserve.ts'
import type { Limiter } from './limiter.ts'
import { sessionCookieOf } from './session-cookie.ts'

const BEARER = /^Bearer +([0-9a-f]{64})$/i

/** Who passed the guard, and whether a CSRF token is still to come with the body. */
export interface Admitted {
  caller: Caller | undefined
  csrfDue: boolean
  /** Whether the body had not arrived yet when the caller was looked up. */
  isBodyDue: boolean
  /** Whether the caller still may; undefined for anyone. */
  access: Access | undefined
}

/** In which a caller is looked at again. */
type Transaction = Parameters<Authority>[0]

/** What guards need. */
export interface Watch {
  domain: Domain
  limiter: Limiter
  reserve: DiskReserve
}

/** Whose request it is. If there is an Authorization header, only it counts. Faults: `unauthorized`, `2fa_required`. */
export async function identify(
  { domain }: Pick<Watch, 'domain'>,
  { auth }: Pick<AnyAction, 'auth'>,
  request: FastifyRequest,
  on?: Transaction,
): Promise<Caller> {
  const { authorization, cookie } = request.headers
  const allowed = auth === 'anyone' ? {} : auth
  let caller: Caller | undefined
  if (authorization !== undefined) {
    const token = BEARER.exec(authorization)?.[1]
    if (token && allowed.device) caller = await domain.accounts.authenticateDevice(token, request.ip, on)
  } else if (allowed.session) {
    const id = sessionCookieOf(cookie)
    caller = id === undefined ? undefined : await domain.accounts.sessions.authenticate(id, request.ip, on)
  }
  if (!caller) throw fault('unauthorized')
  return caller
}

/** In whose name a request counts, and how many times what a limit says they may pass. */
interface Counted {
  key: string
  share?: number
}

const addressOf = ({ ip }: FastifyRequest): Counted[] => [{ key: `address ${addressKey(ip)}` }]

const namesOf = (caller: Caller): Counted[] => [
  { key: isInSession(caller) ? `user ${caller.user.id}` : `token ${caller.device.token_id}` },
  { key: `account ${caller.user.id}`, share: DEVICES_AT_ONCE },
]

async function limit(
  { domain, limiter }: Watch,
  { name, cost }: { name: LimitName; cost?: number | undefined },
  who: Counted[],
  reply: FastifyReply,
): Promise<void> {
  const values = await domain.instance.settings.values()
  if (!values['limits.enabled']) return
  const max = values[`limits.${name}`]
  const [own, ...others] = who.map(({ key, share = 1 }) => ({ key: `${key} ${name}`, max: max * share }))
  // What actions of many kinds cost together counts for the account alone.
  const shared = cost === undefined ? [] : [{ key: `${who.at(-1)!.key} cost`, max: values['limits.cost'], cost }]
  const verdict = limiter.take(own!, ...others, ...shared)
  void reply.header('ratelimit-limit', verdict.limit)
  void reply.header('ratelimit-remaining', verdict.remaining)
  void reply.header('ratelimit-reset', verdict.reset)
  if (verdict.retryAfter > 0) {
    const text = `At most ${verdict.limit} such requests in ${LIMIT_WINDOW} seconds; try again in ${verdict.retryAfter}.`
    throw fault('rate_limited', { text, retryAfter: verdict.retryAfter })
  }
}

/** Whether an action leaves everything as it is: what a service that is read-only still does for everybody. */
export const isReading = ({ method, reads }: AnyAction): boolean => method === 'GET' || reads === true

export interface Guard {
  admit(action: AnyAction, request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted>
  /**
   * Looks at a request whose body is still to name its action. Returns those of the actions that its sender can call; the one
   * that is named then is admitted as any other.
   */
  narrow(actions: readonly AnyAction[], request: FastifyRequest, reply: FastifyReply): Promise<readonly AnyAction[]>
}

const ANYONE: Admitted = { caller: undefined, csrfDue: false, isBodyDue: false, access: undefined }

/**
 * What stands before every action, in this order and before a body is read: is the service set up, who is calling, is it
 * under maintenance, not too often, not from another site, and may they. Waits only where something has to be looked up.
 */
export function makeGuard(watch: Watch): Guard {
  const { instance } = watch.domain
  /** Requests that were counted by their address already, before their body named the action. */
  const counted = new WeakSet<FastifyRequest>()
  async function limitOnce(
    request: FastifyRequest,
    name: LimitName,
    who: Counted[],
    reply: FastifyReply,
  ): Promise<void> {
    if (counted.has(request)) return
    counted.add(request)
    await limit(watch, { name }, who, reply)
  }

  const publicUrl = async () => (await instance.settings.values()).public_url

  /** Refuses while the service is closed to the caller: at first, and again later in the course of the request. */
  async function assertOpen(action: AnyAction, caller: Caller): Promise<void> {
    if (action.openIn?.includes('maintenance') || caller.user.role === 'admin') return
    const closed = await instance.closedFor({ changes: !isReading(action) })
    if (closed) throw closed
  }

  async function admit(action: AnyAction, request: FastifyRequest, reply: FastifyReply): Promise<Admitted> {
    const { auth, openIn = [], limit: limitName, cost } = action
    if (!openIn.includes('setup') && !instance.isKnownToBeSetUp() && !(await instance.isSetUp()))
      throw fault('setup_required')
    if (auth === 'anyone') {
      // Counted whatever becomes of it: also what is refused costs.
      if (limitName !== 'none') await limitOnce(request, limitName, addressOf(request), reply)
      if (action.sameOrigin) refuseForeign(request, await publicUrl())
      return ANYONE
    }
    const lookedAt = performance.now()
    const caller = await identify(watch, action, request)
    // Not after what follows, which may wait: the access may end meanwhile, and the body arrive behind that.
    const isBodyDue = !request.raw.complete
    await assertOpen(action, caller)
    if (limitName !== 'none') await limit(watch, { name: limitName, cost }, namesOf(caller), reply)
    let csrfDue = false
    if (isInSession(caller)) {
      refuseForeign(request, await publicUrl())
      csrfDue = action.method === 'POST' && tokenDue(request, caller)
    }
    // With the token still to come, whether the caller may do it is told only to whoever turns out to be the caller.
    if (auth.admin && caller.user.role !== 'admin' && !csrfDue) throw fault('forbidden')
    if (action.stores) await watch.reserve.assertRoom(Number(request.headers['content-length'] ?? 0))
    const { accounts } = watch.domain
    const look = async (on?: Transaction) => {
      const again = await identify(watch, action, request, on)
      await assertOpen(action, again)
      if (auth.admin && again.user.role !== 'admin') throw fault('forbidden')
      // What was received meanwhile lies on the disk already.
      if (action.stores) await watch.reserve.assertRoom(0, 'now')
    }
    const access = makeAccess({ accounts, caller, look, lookedAt })
    return { caller, csrfDue, isBodyDue, access }
  }

  /** The actions, of those that a body may be about to name, which its sender can call; counts who sends it unasked. */
  async function narrow(actions: readonly AnyAction[], request: FastifyRequest, reply: FastifyReply) {
    const open = actions.filter(({ auth }) => auth === 'anyone')
    try {
      const auth = Object.assign({}, ...actions.map((action) => (action.auth === 'anyone' ? {} : action.auth))) as Auth
      await identify(watch, { auth }, request)
      return actions
    } catch (error) {
      if (open.length === 0 || !isFault(error)) throw error
      await limitOnce(request, 'anonymous', addressOf(request), reply)
      return open
    }
  }

  return {
    admit(action, request, reply) {
      const { auth, sameOrigin, limit: limitName } = action
      const isOpen = auth === 'anyone' && !sameOrigin && limitName === 'none' && instance.isKnownToBeSetUp()
      return isOpen ? ANYONE : admit(action, request, reply)
    },
    async narrow(actions, request, reply) {
      const ready = (await instance.isSetUp()) ? actions : actions.filter(({ openIn }) => openIn?.includes('setup'))
      if (ready.length === 0) throw fault('setup_required')
      return narrow(ready, request, reply)
    },
  }
}
