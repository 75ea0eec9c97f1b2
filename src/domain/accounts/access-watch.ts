import type { Database } from '../../storage/engine/database.ts'
import { livingTokens, type Lifetime } from '../../storage/accounts/device-tokens.ts'
import { livingSessions, type SessionBounds } from '../../storage/accounts/sessions.ts'
import type { Caller } from './caller.ts'

/** What another process ends (an administrator's command) is not sure to be heard of, and what expires is told by nobody. */
const LOOK_EVERY_MS = 500

/** Ids in one question. */
const AT_ONCE = 500

interface Watched {
  caller: Caller
  ended: () => void
}

interface Parts {
  database: Database
  lifetime: () => Promise<Lifetime>
  sessionBounds: () => SessionBounds
  lookEveryMs?: number | undefined
}

const sessionOf = ({ caller }: Watched) => ('session' in caller ? caller.session.session_id : undefined)
const tokenOf = ({ caller }: Watched) => ('device' in caller ? caller.device.token_id : undefined)

/** Tells requests in progress that the token or session they came with has ended. Nothing is heard before one is watched. */
export function makeAccessWatch({ database, lifetime, sessionBounds, lookEveryMs = LOOK_EVERY_MS }: Parts) {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let hears = false
  let isFresh = false

  /** Ends those whose id is not among the living ones. */
  async function endOthers(
    among: readonly Watched[],
    idOf: (each: Watched) => number | undefined,
    living: (ids: number[]) => Promise<number[]>,
  ): Promise<void> {
    const byId = new Map<number, Watched[]>()
    for (const each of among) {
      const id = idOf(each)
      if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), each])
    }
    const ids = [...byId.keys()]
    for (let first = 0; first < ids.length; first += AT_ONCE) {
      const asked = ids.slice(first, first + AT_ONCE)
      const alive = new Set(await living(asked))
      for (const id of asked) {
        if (alive.has(id)) continue
        for (const each of byId.get(id)!) if (watched.delete(each)) each.ended()
      }
    }
  }

  async function look(user?: number): Promise<void> {
    const among = [...watched].filter(({ caller }) => user === undefined || caller.user.id === user)
    if (among.length === 0) return
    const bounds = await lifetime()
    await endOthers(among, tokenOf, (ids) => livingTokens(database.read, ids, bounds))
    await endOthers(among, sessionOf, (ids) => livingSessions(database.read, ids, sessionBounds()))
  }

  // A failed look ends nothing; there is another, and who is asking is looked at before the answer in any case.
  const ignore = () => undefined
  const lookNow = (user?: number) => void look(user).catch(ignore)

  function schedule(): void {
    if (timer || isLooking || watched.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      isLooking = true
      look()
        .catch(ignore)
        .finally(() => {
          isLooking = false
          schedule()
        })
        .catch(ignore)
    }, lookEveryMs)
  }

  /** What ended after a request was let in and before it was watched is not told again: one more look, shared by all of this moment. */
  function lookOnce(): void {
    if (isFresh) return
    isFresh = true
    setImmediate(() => {
      isFresh = false
      lookNow()
    })
  }

  return (caller: Caller, ended: () => void): (() => void) => {
    const own = { caller, ended }
    watched.add(own)
    if (!hears) database.listen('access', { moved: lookNow, missed: () => lookNow() })
    hears = true
    schedule()
    lookOnce()
    return () => {
      watched.delete(own)
      if (watched.size === 0 && timer) timer = void clearTimeout(timer)
    }
  }
}
