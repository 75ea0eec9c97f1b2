import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyAction } from '../contract/contract.ts'
import type { Auth } from '../contract/define.ts'
import { fault, isFault } from '../contract/errors.ts'
import { DEVICES_AT_ONCE, LIMIT_WINDOW, type LimitName } from '../contract/limits.ts'
import { isInSession, type Authority, type Caller } from '../domain/accounts/accounts.ts'
import type { Domain } from '../domain/domain.ts'
import { makeAccess, type Access } from './access.ts'
import { CoalescedMessage } from './coalesced-message.ts'
import { rejectCrossSite, isTokenPending } from './cross-site.ts'
import { addressKey } from '../domain/accounts/address-throttle.ts'
import type { DiskReserve } from './disk-reserve.ts'
import type { Limiter } from './limiter.ts'
import { sessionCookieOf } from './session-cookie.ts'

const BEARER = /^Bearer +([0-9a-f]{64})$/i

/** The result of the guard. The CSRF token may still be pending in the body. */
export interface Admitted {
  caller: Caller | undefined
  isCsrfPending: boolean
  /** Whether the body, now that it is here, was still arriving when the caller was identified. */
  isBodyLate(): boolean
  /** Undefined for actions open to anyone. */
  access: Access | undefined
}

type Transaction = Parameters<Authority>[0]

export interface GuardDependencies {
  domain: Domain
  limiter: Limiter
  reserve: DiskReserve
}

/** With an Authorization header, the cookie is ignored. Faults: `unauthorized`, `2fa_required`. */
export async function identify(
  { domain }: Pick<GuardDependencies, 'domain'>,
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

/** A key that requests are counted under. `share` multiplies the limit. */
interface RateLimitKey {
  key: string
  share?: number
}

const keysOfAddress = ({ ip }: FastifyRequest): RateLimitKey[] => [{ key: `address ${addressKey(ip)}` }]

const keysOfCaller = (caller: Caller): RateLimitKey[] => [
  { key: isInSession(caller) ? `user ${caller.user.id}` : `token ${caller.device.token_id}` },
  { key: `account ${caller.user.id}`, share: DEVICES_AT_ONCE },
]

async function limit(
  { domain, limiter }: GuardDependencies,
  { name, cost }: { name: LimitName; cost?: number | undefined },
  who: RateLimitKey[],
  reply: FastifyReply,
): Promise<void> {
  const values = await domain.instance.settings.values()
  if (!values['limits.enabled']) return
  const max = values[`limits.${name}`]
  const [own, ...others] = who.map(({ key, share = 1 }) => ({ key: `${key} ${name}`, max: max * share }))
  // Costs of different actions add up, for the account only.
  const shared = cost === undefined ? [] : [{ key: `${who.at(-1)!.key} cost`, max: values['limits.cost'], cost }]
  const status = limiter.acquire(own!, ...others, ...shared)
  void reply.header('ratelimit-limit', status.limit)
  void reply.header('ratelimit-remaining', status.remaining)
  void reply.header('ratelimit-reset', status.reset)
  if (status.retryAfter > 0) {
    const text = `At most ${status.limit} such requests in ${LIMIT_WINDOW} seconds; try again in ${status.retryAfter} s.`
    throw fault('rate_limited', { text, retryAfter: status.retryAfter })
  }
}

/** Whether an action changes nothing, so that it is allowed while the service is read-only. */
export const isReading = ({ method, reads }: AnyAction): boolean => method === 'GET' || reads === true

export interface Guard {
  admit(action: AnyAction, request: FastifyRequest, reply: FastifyReply): Admitted | Promise<Admitted>
  /** The actions that a body may still name and its sender may call; the named one is admitted separately. */
  narrow(actions: readonly AnyAction[], request: FastifyRequest, reply: FastifyReply): Promise<readonly AnyAction[]>
}

const ANONYMOUS: Admitted = { caller: undefined, isCsrfPending: false, isBodyLate: () => false, access: undefined }

/**
 * Checks every request before its body is read, in this order: setup completed, rate limit of anonymous requests,
 * caller, maintenance, rate limit, CSRF, role, free disk space. Synchronous when nothing needs to be looked up.
 */
export function makeGuard(deps: GuardDependencies): Guard {
  const { instance } = deps.domain
  /** Requests already counted by address before their body named the action. */
  const countedByAddress = new WeakSet<FastifyRequest>()
  async function limitOnce(
    request: FastifyRequest,
    name: LimitName,
    who: RateLimitKey[],
    reply: FastifyReply,
  ): Promise<void> {
    if (countedByAddress.has(request)) return
    countedByAddress.add(request)
    await limit(deps, { name }, who, reply)
  }

  const publicUrl = async () => (await instance.settings.values()).public_url

  /** Throws while maintenance excludes the caller. Called at the start and on every recheck. */
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
      // Refused requests count too, because they cost work.
      if (limitName !== 'none') await limitOnce(request, limitName, keysOfAddress(request), reply)
      if (action.sameOrigin) rejectCrossSite(request, await publicUrl())
      return ANONYMOUS
    }
    const checkedAt = performance.now()
    const caller = await identify(deps, action, request)
    // Read before the steps below, which may wait: access can end, and the body can arrive, in the meantime.
    const isBodyPending = !request.raw.complete
    // Node parses the rest of what it read from the socket after this, so a body may be here and still count as pending.
    const isBodyLate = () => isBodyPending && !(request.raw instanceof CoalescedMessage && request.raw.isWhole)
    await assertOpen(action, caller)
    if (limitName !== 'none') await limit(deps, { name: limitName, cost }, keysOfCaller(caller), reply)
    let isCsrfPending = false
    if (isInSession(caller)) {
      rejectCrossSite(request, await publicUrl())
      isCsrfPending = action.method === 'POST' && isTokenPending(request, caller)
    }
    // While the CSRF token is pending, the sender is unverified and must not learn the caller's role.
    if (auth.admin && caller.user.role !== 'admin' && !isCsrfPending) throw fault('forbidden')
    if (action.stores) await deps.reserve.assertRoom(Number(request.headers['content-length'] ?? 0))
    const { accounts } = deps.domain
    const check = async (on?: Transaction) => {
      const again = await identify(deps, action, request, on)
      await assertOpen(action, again)
      if (auth.admin && again.user.role !== 'admin') throw fault('forbidden')
      // The received bytes are already on the disk.
      if (action.stores) await deps.reserve.assertRoom(0, 'now')
    }
    const access = makeAccess({ accounts, caller, check, checkedAt })
    return { caller, isCsrfPending, isBodyLate, access }
  }

  async function narrow(actions: readonly AnyAction[], request: FastifyRequest, reply: FastifyReply) {
    const open = actions.filter(({ auth }) => auth === 'anyone')
    try {
      const auth = Object.assign({}, ...actions.map((action) => (action.auth === 'anyone' ? {} : action.auth))) as Auth
      await identify(deps, { auth }, request)
      return actions
    } catch (error) {
      if (open.length === 0 || !isFault(error)) throw error
      await limitOnce(request, 'anonymous', keysOfAddress(request), reply)
      return open
    }
  }

  return {
    admit(action, request, reply) {
      const { auth, sameOrigin, limit: limitName } = action
      const isOpen = auth === 'anyone' && !sameOrigin && limitName === 'none' && instance.isKnownToBeSetUp()
      return isOpen ? ANONYMOUS : admit(action, request, reply)
    },
    async narrow(actions, request, reply) {
      const ready = (await instance.isSetUp()) ? actions : actions.filter(({ openIn }) => openIn?.includes('setup'))
      if (ready.length === 0) throw fault('setup_required')
      return narrow(ready, request, reply)
    },
  }
}
