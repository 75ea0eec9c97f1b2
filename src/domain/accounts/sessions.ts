import { createHmac } from 'node:crypto'
import { MINUTE, SECOND, type Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { SESSION_LIFETIME } from '../../contract/limits.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import { deletePendingLoginByHash, deletePendingLoginsOf, pendingLogin } from '../../storage/accounts/pending-logins.ts'
import {
  deleteSession,
  deleteSessionByHash,
  deleteSessionsOf,
  insertSession,
  ownerOfCookie,
  sessionHolder,
  sessionsOf,
  touchSession,
  type SessionBounds,
  type StoredSession,
} from '../../storage/accounts/sessions.ts'
import type { Audit, RequestOrigin } from '../instance/instance.ts'
import { auditActor, type Actor } from './actor.ts'
import type { SignedIn } from './devices.ts'
import { hashToken, isPendingToken, isToken, newToken } from './tokens.ts'

const MAX_PER_USER = 50
const USER_AGENT_LENGTH = 200

/** Interval at which the use of a session is recorded, so that requests do not become writes. */
const TOUCH_EVERY_MS = MINUTE

/** A caller with a browser session, read again for every request. */
export interface InSession {
  user: SignedIn['user']
  session: {
    session_id: number
    csrf_token: string
    /** When the user signed in, epoch ms. */
    created_at: number
  }
}

export interface Sessions {
  /** Begins a session in the transaction that completes a login. Returns a new cookie value. */
  begin(tx: Writer, user: number, origin: RequestOrigin): Promise<string>
  /** Ends the session or pending login that a cookie names. */
  forget(tx: Writer, cookie: string | undefined): Promise<void>
  /** The account of the session or pending login that a cookie names, valid or not. */
  ownerOf(cookie: string | undefined): Promise<number | undefined>
  /** Authenticates a session cookie. Throws `2fa_required` while its login waits for the second factor. */
  authenticate(cookie: string, ip: string, on?: Reader): Promise<InSession | undefined>
  /** The CSRF token of a session (OWASP: HMAC-based token, bound to the session). */
  csrfToken(cookie: string): string
  list(user: number): Promise<StoredSession[]>
  /** Ends one of the user's sessions. Throws `not_found`. */
  revoke(user: number, sessionId: number, actor?: Actor): Promise<void>
  /** Ends every session of the user except the actor's, and pending logins. Returns the number of sessions. */
  endAll(user: number, actor?: Actor): Promise<number>
  /** Ends the calling session; does nothing if it is gone. */
  end(caller: InSession, from: RequestOrigin): Promise<void>
}

export interface SessionsDeps {
  database: Database
  clock: Clock
  csrfKey: Uint8Array
  audit: Audit
}

/** Expiry bounds of sessions: 24 hours without use, 30 days in total. */
export const sessionBounds = (now: number): SessionBounds => ({
  idleSince: now - SESSION_LIFETIME.idle * SECOND,
  madeSince: now - SESSION_LIFETIME.max * SECOND,
})

/** Browser sessions; only their hashes are stored, and an unknown id is never adopted. */
export function makeSessions({ database, clock, csrfKey, audit }: SessionsDeps): Sessions {
  const bounds = () => sessionBounds(clock.now())
  const csrfToken = (cookie: string): string => createHmac('sha256', csrfKey).update(cookie).digest('hex')
  const touching = new Set<number>()

  /** Records the use of a session without delaying the request. A failed write is retried by the next request. */
  function touch(user: number, id: number, now: number, ip: string): void {
    if (touching.has(id)) return
    touching.add(id)
    database
      .write({ accounts: [user] }, (tx) => touchSession(tx, id, now, now - TOUCH_EVERY_MS, ip))
      .catch(() => undefined)
      .finally(() => touching.delete(id))
  }

  const end = (user: number, session_id: number, actor: Actor | undefined, reason: 'revoked' | 'logout') =>
    database.write({ accounts: [user] }, async (tx) => {
      if (!(await deleteSession(tx, user, session_id))) return false
      await audit.record(tx, { kind: 'session.ended', ...auditActor(user, actor), detail: { session_id, reason } })
      return true
    })

  return {
    csrfToken,
    async begin(tx, user, { ip, userAgent }) {
      const cookie = newToken()
      const now = clock.now()
      const user_agent = userAgent.slice(0, USER_AGENT_LENGTH)
      const row = { user_id: user, token_hash: hashToken(cookie), created_at: now, last_used_at: now, ip, user_agent }
      await insertSession(tx, row, MAX_PER_USER)
      return cookie
    },
    async forget(tx, cookie) {
      if (cookie === undefined) return
      if (isToken(cookie)) await deleteSessionByHash(tx, hashToken(cookie))
      if (isPendingToken(cookie)) await deletePendingLoginByHash(tx, hashToken(cookie))
    },
    ownerOf: async (cookie) => (cookie === undefined ? undefined : ownerOfCookie(database.read, hashToken(cookie))),
    async authenticate(cookie, ip, on = database.read) {
      if (isPendingToken(cookie)) {
        const waiting = await pendingLogin(on, 'session', hashToken(cookie), clock.now())
        if (waiting) throw fault('2fa_required')
      }
      const holder = isToken(cookie) ? await sessionHolder(on, hashToken(cookie), bounds()) : undefined
      if (!holder) return undefined
      const { session_id, created_at, last_used_at, user_id: id, ...names } = holder
      const now = clock.now()
      if (last_used_at <= now - TOUCH_EVERY_MS) touch(id, session_id, now, ip)
      return { user: { id, ...names }, session: { session_id, csrf_token: csrfToken(cookie), created_at } }
    },
    list: (user) => sessionsOf(database.read, user, bounds()),
    async revoke(user, sessionId, actor) {
      if (!(await end(user, sessionId, actor, 'revoked'))) throw fault('not_found')
    },
    endAll: (user, actor) =>
      database.write({ accounts: [user] }, async (tx) => {
        await deletePendingLoginsOf(tx, user)
        const sessions = await deleteSessionsOf(tx, user, actor?.session_id)
        const detail = { sessions_ended: sessions, reason: 'revoked' }
        if (sessions > 0) await audit.record(tx, { kind: 'session.ended', ...auditActor(user, actor), detail })
        return sessions
      }),
    async end({ user, session }, from) {
      await end(user.id, session.session_id, from, 'logout')
    },
  }
}
