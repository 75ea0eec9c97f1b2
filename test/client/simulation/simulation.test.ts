import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeRandom } from '../../support/random.ts'
import { play } from './play.ts'
import { shrink } from './shrink.ts'
import { kinds } from './disk/kinds.ts'
import { disguised, themes } from './names.ts'
import { faults } from './network.ts'
import { saw, seen } from './seen.ts'
import { tell, type Story } from './story.ts'
import { openWorld, type World } from './world.ts'

// The engine's modules find disks in memory where they expect the machine's own, and draw their random names from a seed.
vi.mock('node:fs', async (original) => (await import('./disk/node-fs.ts')).overlay(await original()))
vi.mock('node:fs/promises', async (original) => (await import('./disk/node-fs-promises.ts')).overlay(await original()))
vi.mock('../../../src/host/sqlite-file.ts', async (original) =>
  (await import('./disk/sqlite-file.ts')).overlay(await original()),
)
vi.mock('../../../src/base/random.ts', async (original) => (await import('./disk/random.ts')).overlay(await original()))

const FROM = Number(process.env['SIMULATE_FROM'] ?? 1)
const SEEDS = Number(process.env['SIMULATE_SEEDS'] ?? 240)
/** Seeds of one test: what fails is then told early. */
const BATCH = 60
const PATIENCE = 600_000

const REGRESSIONS = join(import.meta.dirname, 'regressions')
/** Where the story of a seed that fails is put, shortened to what it needs for that. */
const FAILED = process.env['SIMULATE_FAILED']

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const storyOf = (seed: number): Story => tell(seed, makeRandom(seed))

async function fails(story: Story, problem: string): Promise<string> {
  const short = await shrink(world, story, problem)
  const again = await play(world, short)
  if (FAILED) writeFileSync(join(FAILED, `${story.seed}.json`), `${JSON.stringify({ problem, ...short }, null, 2)}\n`)
  return [`Seed ${story.seed}: ${problem}`, JSON.stringify(short), ...again.trace.slice(-60), again.problem].join('\n')
}

for (let from = FROM; from < FROM + SEEDS; from += BATCH) {
  const count = Math.min(BATCH, FROM + SEEDS - from)
  test(`whatever happens, nothing is lost: seeds ${from} to ${from + count - 1}`, { timeout: PATIENCE }, async () => {
    for (let seed = from; seed < from + count; seed += 1) {
      const { problem } = await play(world, storyOf(seed))
      if (problem !== undefined) expect.fail(await fails(storyOf(seed), problem))
    }
  })
}

/** The first seeds are played once more with names and disks that fail. */
const NASTY = 60
const nastyOf = (seed: number): Story => disguised(storyOf(seed), makeRandom(~seed))

test('whatever things are called, on whatever disks, nothing is lost', { timeout: PATIENCE }, async () => {
  seen.clear()
  for (let seed = 1; seed <= NASTY; seed += 1) {
    const story = nastyOf(seed)
    for (const what of [story.theme, story.disks?.A, story.disks?.B]) saw(String(what))
    const { problem } = await play(world, story)
    if (problem !== undefined) expect.fail(await fails(story, problem))
  }
  // What never happened was not tested.
  const struck = ['power_cut', 'kill', 'deed', 'away', 'ENOSPC', 'EIO', 'EACCES', 'EMFILE', 'EROFS', 'EBUSY']
  const named = ['found by another spelling', 'taken apart', 'only spelled otherwise', 'collision', 'reserved']
  const expected = [...faults, ...struck, ...named, ...kinds, ...Object.keys(themes)]
  expect(expected.filter((what) => !seen.has(what))).toEqual([])
})

for (const name of readdirSync(REGRESSIONS).filter((each) => each.endsWith('.json'))) {
  test(`what went wrong once stays right: ${name.slice(0, -5)}`, async () => {
    const story = JSON.parse(readFileSync(join(REGRESSIONS, name), 'utf8')) as Story
    const played = await play(world, story)
    if (process.env['SIMULATE_TRACE']) console.log(played.trace.join('\n'))
    expect(played.problem).toBeUndefined()
  })
}

test('the same seed tells the same story, step by step', async () => {
  for (const seed of [3, 14, 159]) {
    const [once, again] = [await play(world, storyOf(seed)), await play(world, storyOf(seed))]
    expect(again.trace).toEqual(once.trace)
    expect(again.hash).toBe(once.hash)
  }
})
