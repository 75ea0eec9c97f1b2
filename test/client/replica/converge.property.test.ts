import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Change } from '../../../src/client/replica/replica-records.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import type { Row } from '../../../src/client/rows/row-values.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { deviceOf, edit, note, removal, rowsOf, rowsOnServer, type Device } from './bench.ts'

// Two devices that are offline most of the time, a real server, and answers that get lost: whatever the order, both end with what the
// server has, and no word is lost that its writer or somebody who had read it did not take away.

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

type Step =
  | { kind: 'add' | 'edit' | 'remove' | 'join'; who: number; which: number; column: string }
  | { kind: 'exchange' | 'crash'; who: number; cut: 'none' | 'before' | 'after' }

const who = fc.nat(1)
const column = fc.constantFrom('title', 'content', 'category')
const which = fc.nat(5)
const kinds = fc.constantFrom('add' as const, 'edit' as const, 'edit' as const, 'remove' as const)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: kinds, who, which, column }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('exchange' as const, 'crash' as const),
      who,
      cut: fc.constantFrom('none' as const, 'none' as const, 'before' as const, 'after' as const),
    }),
  },
)

function changeOf(
  device: Device,
  { kind, which: at, column: name }: Extract<Step, { which: number }>,
  word: string,
): Change | undefined {
  if (kind === 'add') return note(word)
  const rows = device.copy.rows('svc_notes')
  const row = rows[at % Math.max(1, rows.length)]?.['id'] as number | undefined
  if (row === undefined) return undefined
  return kind === 'remove' ? removal(row) : edit(row, { [name]: word })
}

/** Exchanges with a server whose answer to the first push never comes, or that never gets it. */
async function exchange(device: Device, cut: 'none' | 'before' | 'after'): Promise<void> {
  let pushes = 0
  device.mischief = async (action, _, go) => {
    if (action !== 'push' || cut === 'none' || (pushes += 1) > 1) return go()
    if (cut === 'after') await go()
    throw new Unreachable('broke off', { outcomeUnknown: true })
  }
  await device.exchange().catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error
  })
  device.mischief = undefined
}

const words = (row: Row): unknown[] => ['title', 'content', 'category'].map((name) => row[name])

/** Every word that stands somewhere: in a row, or with somebody who has to decide. */
function wordsIn(devices: readonly Device[]): Set<unknown> {
  const rows = devices.flatMap(({ copy }) => copy.rows('svc_notes').flatMap(words))
  const rejected = devices.flatMap(({ copy }) =>
    copy.rejected().flatMap(({ mine, before }) => [mine, before ?? {}].flatMap(words)),
  )
  return new Set([...rows, ...rejected])
}

/** Once lost: what the other changed while a lost answer left this one's change in doubt, and a removal or a second change built on that. */
const behindDoubt = (last: 'edit' | 'remove'): Step[] => [
  { kind: 'add', who: 0, which: 0, column: 'title' },
  { kind: 'exchange', who: 0, cut: 'none' },
  { kind: 'exchange', who: 1, cut: 'none' },
  { kind: 'edit', who: 1, which: 0, column: 'title' },
  { kind: 'exchange', who: 1, cut: 'none' },
  { kind: 'edit', who: 0, which: 0, column: 'content' },
  { kind: 'exchange', who: 0, cut: 'after' },
  { kind: last, who: 0, which: 0, column: 'title' },
]

test('two devices converge, and nothing that was written is lost', async () => {
  const scenario = fc.array(step, { minLength: 4, maxLength: 22 })
  await fc.assert(
    fc.asyncProperty(scenario, async (steps) => {
      const account = await server.account()
      const devices = [await deviceOf(account, server.url), await deviceOf(await account.another(), server.url)]
      for (const device of devices) await device.exchange()
      /** Words somebody who saw them overwrote or deleted, on purpose. */
      const givenUp = new Set<unknown>()
      const written = new Set<string>()
      for (const [at, each] of steps.entries()) {
        const device = devices[each.who]!
        if (each.kind === 'crash') device.reopen()
        if ('cut' in each) {
          await exchange(device, each.cut)
          if (each.kind === 'crash') device.reopen()
          continue
        }
        const word = `word ${at}`
        const change = changeOf(device, each, word)
        if (!change) continue
        const before = change.row === undefined ? {} : device.copy.row('svc_notes', change.row)!
        const gone = change.verb === 'DELETE' ? words(before) : Object.keys(change.values).map((name) => before[name])
        for (const old of gone) givenUp.add(old)
        if (change.verb !== 'DELETE') written.add(word)
        device.change(change)
      }
      for (let round = 0; round < 3; round += 1) for (const device of devices) await device.exchange()

      const [one, other] = devices as [Device, Device]
      expect(one.copy.count().waiting + other.copy.count().waiting).toBe(0)
      expect(rowsOf(one.copy)).toEqual(rowsOf(other.copy))
      expect(rowsOf(one.copy)).toEqual(await rowsOnServer(one))
      const there = wordsIn(devices)
      expect([...written].filter((word) => !there.has(word) && !givenUp.has(word))).toEqual([])
      for (const device of devices) {
        device.log.length = 0
        await device.exchange()
        expect(device.log).toEqual(['delta'])
      }
    }),
    {
      examples: [[behindDoubt('edit')], [behindDoubt('remove')]],
      numRuns: Number(process.env['ROW_RUNS'] ?? 40),
      seed: Number(process.env['ROW_SEED'] ?? 20_261_122),
    },
  )
})
