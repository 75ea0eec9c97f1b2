import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeFaults } from './faults.ts'
import { playStory } from './story.ts'

const SEEDS = Number(process.env['SIMULATE_SERVER_SEEDS'] ?? 20)
const FROM = Number(process.env['SIMULATE_SERVER_FROM'] ?? 1)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 21, 12) })
})
afterEach(() => {
  vi.useRealTimers()
})

test(
  'whatever happens to a server, it keeps what it acknowledged and shows nothing that a crash takes back',
  { timeout: 3_600_000 },
  async () => {
    const faults = makeFaults()
    // Threads and the disk have a part in every story: a rare fault may need more of them.
    const isOver = (seed: number) =>
      seed >= FROM + SEEDS && (faults.missing().length === 0 || seed >= FROM + 10 * SEEDS)
    for (let seed = FROM; !isOver(seed); seed += 1) {
      await playStory(seed, faults).catch((error: unknown) => {
        throw new Error(`The story of seed ${seed} fails: ${(error as Error).message}`, { cause: error })
      })
    }
    expect(faults.missing(), 'kinds of fault that no story met').toEqual([])
  },
)
