import { expect, inject, onTestFinished, test } from 'vitest'
import { MINUTE } from '../../src/base/clock.ts'
import { filesystem } from '../../src/contract/filesystem.ts'
import type { OptionName } from '../../src/domain/instance/options.ts'
import { sha256Of } from '../support/contents.ts'
import { makeRandom } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { blobBytes, databaseBytes } from './disk-bound/held.ts'
import { makeHostile } from './disk-bound/hostile.ts'
import { promised } from './disk-bound/promise.ts'

const FROM = Number(process.env['DISK_BOUND_FROM'] ?? 1)
const SEEDS = Number(process.env['DISK_BOUND_SEEDS'] ?? (inject('postgres') === undefined ? 3 : 1))

const KB = 1_024
const QUOTA = 1_024 * KB
const STEPS = 160
/** Steps between two looks at the disk. */
const LOOK = 10
/** Steps between two rounds of upkeep. */
const ROUND = 40
const PATIENCE = 300_000

const settings = {
  'quota.history': 0.25,
  'files.max_nodes': 150,
  'rows.max_bytes': 64 * KB,
  'rows.max_rows': 100,
  'chat.max_bytes': 64 * KB,
  'components.max_bytes': 64 * KB,
  'assistant.max_bytes': 64 * KB,
  'retention.tombstones_max': 1_000,
  'retention.pushes_max': 64 * KB,
  'retention.audit_max': 1_000,
} satisfies Partial<Record<OptionName, number>>

const flags = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
const bound = promised(QUOTA, settings)

/** Plays one seed; what was done is written into `story`. */
async function play(seed: number, server: TestServer, story: string[]): Promise<void> {
  const random = makeRandom(seed)
  const first = await server.account({ quota: QUOTA, plantsCode: true })
  const devices = [first, await first.another(), await first.another()]
  const hostile = await makeHostile({ url: server.url, devices, random, quota: QUOTA })
  const empty = await databaseBytes(server)
  const look = async () => {
    const { stored, arriving } = await blobBytes(server)
    story.push(`- ${stored} bytes stored, ${arriving} arriving`)
    expect(stored).toBeLessThanOrEqual(bound.stored)
    expect(arriving).toBeLessThanOrEqual(bound.arriving)
    const { data } = await first.ask(filesystem.actions.quota, {})
    for (const kind of ['rows', 'chat', 'components', 'assistant'] as const)
      expect([kind, data[kind]!.used]).toEqual([kind, Math.min(data[kind]!.used, settings[`${kind}.max_bytes`])])
  }
  for (let step = 1; step <= STEPS; step += 1) {
    const together = random.below(4) === 0 ? 2 + random.below(4) : 1
    const acts = Array.from({ length: together }, hostile.next)
    const under = Promise.all(acts.map(({ run }) => run()))
    if (step % LOOK === 1) await Promise.all([look(), under])
    const done = await under
    story.push(acts.map(({ text }, index) => `${text}: ${done[index]!.status}`).join(' | '))
    for (const { status } of done) expect([status, status === 503 || status < 500]).toEqual([status, true])
    if (step % LOOK === 0) await look()
    if (step % ROUND > 0) continue
    server.clock.pass(MINUTE)
    await server.local.domain.instance.upkeep()
    await look()
    const used = (await databaseBytes(server)) - empty
    story.push(`- ${used} bytes of the database`)
    expect(used).toBeLessThanOrEqual(bound.database)
  }
  // What was removed early was not needed.
  const { files } = await first.manifest()
  for (const { path, sha256 } of files) {
    const { status, bytes } = await first.download(path)
    expect([path, status, sha256Of(bytes)]).toEqual([path, 200, sha256])
  }
  expect(await server.local.domain.instance.usage.recount({ dryRun: true })).toEqual([])
}

for (let seed = FROM; seed < FROM + SEEDS; seed += 1)
  test(
    `whatever an account does, the disk holds no more than is promised: seed ${seed}`,
    { timeout: PATIENCE },
    async () => {
      const server = await startServer({ flags })
      onTestFinished(() => server.close())
      const story: string[] = []
      try {
        await play(seed, server, story)
      } catch (error) {
        console.log(`DISK_BOUND_FROM=${seed} DISK_BOUND_SEEDS=1\n${story.join('\n')}`)
        throw error
      }
      if (process.env['DISK_BOUND_TRACE']) console.log(story.join('\n'))
    },
  )
