import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeWaiters } from '../../src/domain/waiters.ts'
import type { Listener } from '../../src/storage/engine/database.ts'

const ADA = 1
const BOB = 2

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** News over heads that a test moves; `asked` says for whom the heads were looked up, `hearers` who hears what is told. */
function world() {
  const heads = new Map([
    [ADA, 0],
    [BOB, 0],
  ])
  const asked: number[][] = []
  const hearers: Listener[] = []
  let failing = false
  const news = makeWaiters({
    hear: (hearer) => void hearers.push(hearer),
    heads(users) {
      asked.push(users)
      if (failing) return Promise.reject(new Error('The database is busy.'))
      return Promise.resolve(users.map((id) => ({ id, head: heads.get(id) ?? 0 })))
    },
  })
  /** Begins to wait and remembers whether it is over. */
  const waiting = (user: number, cursor: number, ms = 30_000) => {
    const controller = new AbortController()
    const state = { over: false, abort: () => controller.abort(), promise: Promise.resolve() }
    state.promise = news.wait(user, cursor, ms, controller.signal).then(() => void (state.over = true))
    return state
  }
  return { heads, asked, hearers, news, waiting, fail: (now: boolean) => (failing = now) }
}

const turn = () => vi.advanceTimersByTimeAsync(0)

describe('a request that waits for news', () => {
  test('goes on at once when it is told of some, and others sleep on', async () => {
    const { hearers, waiting } = world()
    const [ada, adaAhead, bob] = [waiting(ADA, 4), waiting(ADA, 5), waiting(BOB, 0)]
    hearers[0]!.moved(ADA, 5)
    await turn()
    expect([ada.over, adaAhead.over, bob.over]).toEqual([true, false, false])
    // Told again, by whomever, it is no news to who knows it.
    const again = waiting(ADA, 5)
    hearers[0]!.moved(ADA, 5)
    await turn()
    expect([adaAhead.over, again.over]).toEqual([false, false])
  })

  test('goes on at once with what was told between its own look and its sleep', async () => {
    const { heads, waiting } = world()
    heads.set(ADA, 8)
    const [ada, bob] = [waiting(ADA, 7), waiting(BOB, 0)]
    await turn()
    expect([ada.over, bob.over]).toEqual([true, false])
  })

  test('goes on at once with what was missed, as soon as that is known', async () => {
    const { heads, hearers, waiting } = world()
    const [ada, bob] = [waiting(ADA, 7), waiting(BOB, 0)]
    await turn()
    heads.set(ADA, 8)
    hearers[0]!.missed()
    await turn()
    expect([ada.over, bob.over]).toEqual([true, false])
  })

  test('goes on within half a second when another process moved the feed', async () => {
    const { heads, waiting } = world()
    const [ada, bob] = [waiting(ADA, 7), waiting(BOB, 0)]
    heads.set(ADA, 7)
    await vi.advanceTimersByTimeAsync(600)
    expect(ada.over).toBe(false)
    heads.set(ADA, 8)
    await vi.advanceTimersByTimeAsync(500)
    expect([ada.over, bob.over]).toEqual([true, false])
  })

  test('goes on when its time is over, not earlier', async () => {
    const { waiting } = world()
    const ada = waiting(ADA, 0, 2_000)
    await vi.advanceTimersByTimeAsync(1_999)
    expect(ada.over).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(ada.over).toBe(true)
  })

  test('goes on when its client hangs up', async () => {
    const { waiting } = world()
    const [ada, other] = [waiting(ADA, 0), waiting(ADA, 0)]
    ada.abort()
    await turn()
    expect([ada.over, other.over]).toEqual([true, false])
  })

  test('does not begin to wait for a client that has hung up, nor when the service stops', async () => {
    const { news } = world()
    const gone = AbortSignal.abort()
    await news.wait(ADA, 0, 30_000, gone)
    news.close()
    await news.wait(ADA, 0, 30_000, new AbortController().signal)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is let go when the service stops', async () => {
    const { news, waiting } = world()
    const all = [waiting(ADA, 0), waiting(ADA, 3), waiting(BOB, 0)]
    news.close()
    await turn()
    expect(all.map(({ over }) => over)).toEqual([true, true, true])
  })

  test('sleeps through a look that fails', async () => {
    const { heads, waiting, fail } = world()
    const ada = waiting(ADA, 0)
    fail(true)
    await vi.advanceTimersByTimeAsync(1_500)
    expect(ada.over).toBe(false)
    fail(false)
    heads.set(ADA, 1)
    await vi.advanceTimersByTimeAsync(500)
    expect(ada.over).toBe(true)
  })
})

describe('looking for what other processes wrote', () => {
  test('is one question for all who wait, and none when nobody does', async () => {
    const { asked, hearers, waiting } = world()
    await vi.advanceTimersByTimeAsync(5_000)
    expect([asked, hearers]).toEqual([[], []])
    const all = [waiting(ADA, 0, 1_200), waiting(ADA, 1, 1_200), waiting(BOB, 0, 1_200)]
    await vi.advanceTimersByTimeAsync(1_100)
    // Once as they begin, and then every half second.
    expect(asked).toEqual(Array.from({ length: 3 }, () => [ADA, BOB]))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(all.every(({ over }) => over)).toBe(true)
    expect(asked).toHaveLength(3)
    hearers[0]!.missed()
    expect(asked).toHaveLength(3)
    expect(hearers).toHaveLength(1)
  })

  test.each([
    ['told', ({ hearers }: ReturnType<typeof world>) => hearers[0]!.moved(ADA, 1)],
    ['closed', ({ news }: ReturnType<typeof world>) => news.close()],
  ])('leaves no timer behind once everybody is gone (%s)', async (_, end) => {
    const here = world()
    const ada = here.waiting(ADA, 0)
    await turn()
    expect(vi.getTimerCount()).toBe(2)
    end(here)
    await ada.promise
    expect(vi.getTimerCount()).toBe(0)
  })
})
