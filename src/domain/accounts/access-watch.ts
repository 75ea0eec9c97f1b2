import type { Database } from '../../storage/engine/database.ts'
import { validTokens, type Lifetime } from '../../storage/accounts/device-tokens.ts'
import { validSessions, type SessionBounds } from '../../storage/accounts/sessions.ts'
import type { Caller } from './caller.ts'

/** Notifications from another process may be lost, and an expiry sends none. */
const CHECK_INTERVAL_MS = 500

const IDS_PER_QUERY = 500

interface Watched {
  caller: Caller
  ended: () => void
}

interface Parts {
  database: Database
  lifetime: () => Promise<Lifetime>
  sessionBounds: () => SessionBounds
  checkIntervalMs?: number | undefined
}

const sessionOf = ({ caller }: Watched) => ('session' in caller ? caller.session.session_id : undefined)
const tokenOf = ({ caller }: Watched) => ('device' in caller ? caller.device.token_id : undefined)

/** Calls back requests in progress when their token or session ends. Listens from the first watch on. */
export function makeAccessWatch({ database, lifetime, sessionBounds, checkIntervalMs = CHECK_INTERVAL_MS }: Parts) {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined
  let isChecking = false
  let isListening = false
  let isScheduled = false

  /** Ends the watches whose token or session is gone. */
  async function endMissing(
    among: readonly Watched[],
    idOf: (each: Watched) => number | undefined,
    findLiving: (ids: number[]) => Promise<number[]>,
  ): Promise<void> {
    const byId = new Map<number, Watched[]>()
    for (const each of among) {
      const id = idOf(each)
      if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), each])
    }
    const ids = [...byId.keys()]
    for (let first = 0; first < ids.length; first += IDS_PER_QUERY) {
      const batch = ids.slice(first, first + IDS_PER_QUERY)
      const living = new Set(await findLiving(batch))
      for (const id of batch) {
        if (living.has(id)) continue
        for (const each of byId.get(id)!) if (watched.delete(each)) each.ended()
      }
    }
  }

  async function check(user?: number): Promise<void> {
    const among = [...watched].filter(({ caller }) => user === undefined || caller.user.id === user)
    if (among.length === 0) return
    const bounds = await lifetime()
    await endMissing(among, tokenOf, (ids) => validTokens(database.read, ids, bounds))
    await endMissing(among, sessionOf, (ids) => validSessions(database.read, ids, sessionBounds()))
  }

  // A failed check ends nothing: the next one follows, and the caller is checked again before the response.
  const ignore = () => undefined
  const checkNow = (user?: number) => void check(user).catch(ignore)

  function schedule(): void {
    if (timer || isChecking || watched.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      isChecking = true
      check()
        .catch(ignore)
        .finally(() => {
          isChecking = false
          schedule()
        })
        .catch(ignore)
    }, checkIntervalMs)
  }

  /** Catches access that ended between authentication and the watch. Requests of one event loop turn share the check. */
  function checkSoon(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      checkNow()
    })
  }

  return (caller: Caller, ended: () => void): (() => void) => {
    const own = { caller, ended }
    watched.add(own)
    if (!isListening) database.listen('access', { moved: checkNow, missed: () => checkNow() })
    isListening = true
    schedule()
    checkSoon()
    return () => {
      watched.delete(own)
      if (watched.size === 0 && timer) timer = void clearTimeout(timer)
    }
  }
}
