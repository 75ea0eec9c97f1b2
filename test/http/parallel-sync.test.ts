import { describe, expect, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import type { Account, Change } from '../support/account.ts'
import { makeRandom, type Random } from '../support/random.ts'
import { serverOfFile } from '../support/server.ts'

const server = await serverOfFile()

const insert = (title: string, table = 'svc_notes') => ({ table, operation: 'INSERT', data: { title } })

/** Reads the feed page by page until `done` is true and nothing is left, and hands each page on. */
async function follow(
  account: Account,
  limit: () => number,
  done: () => boolean,
  take: (changes: Change[]) => void,
): Promise<number> {
  let cursor = 0
  for (;;) {
    const finished = done()
    const page = await account.delta(cursor, { limit: limit() })
    expect(page.cursor).toBeGreaterThanOrEqual(cursor)
    take(page.changes)
    cursor = page.cursor
    if (finished && !page.has_more) return cursor
  }
}

test('many writers at once leave a feed without gaps, which a reader sees whole and in order', async () => {
  const account = await server.account()
  const devices = await Promise.all([1, 2, 3, 4].map(() => account.another()))
  const other = await openLocal({ dataDir: server.dataDir, env: server.env, clock: server.clock })
  const rounds = 15
  const perPush = 4

  let writing = devices.length + 1
  const write = async (name: string, push: (titles: string[]) => Promise<unknown>) => {
    for (let round = 0; round < rounds; round += 1) {
      await push(Array.from({ length: perPush }, (_, index) => `${name} ${round * perPush + index}`))
    }
    writing -= 1
  }
  const writers = [
    ...devices.map((device, index) =>
      write(`device ${index}`, (titles) => device.push(...titles.map((title) => insert(title)))),
    ),
    write('process', (titles) =>
      other.domain.sync.push(account.id, { operations: titles.map((title) => insert(title)) }),
    ),
  ]

  const seen: Change[] = []
  const reading = follow(
    account,
    () => 7,
    () => writing === 0,
    (changes) => void seen.push(...changes),
  )
  await Promise.all([...writers, reading])
  await other.close()

  const total = 5 * rounds * perPush
  // Rows that are only made come exactly once, at places without a gap.
  expect(seen.map(({ cursor }) => cursor)).toEqual(Array.from({ length: total }, (_, index) => index + 1))
  expect(new Set(seen.map(({ data }) => data.id)).size).toBe(total)
  expect(seen.every(({ operation }) => operation === 'INSERT')).toBe(true)
  // And what one writer wrote comes in its order.
  for (const name of ['device 0', 'device 3', 'process']) {
    const titles = seen.map(({ data }) => String(data['title'])).filter((title) => title.startsWith(`${name} `))
    expect(titles).toEqual(Array.from({ length: rounds * perPush }, (_, index) => `${name} ${index}`))
  }
})

/** One random change of rows or files by one device that knows what it has made. */
async function step(device: Account, random: Random, mine: number[], name: string): Promise<void> {
  const { move, delete: remove } = syncFiles.actions
  const path = () => `/${name}/${random.below(3)}/${random.below(3)}.txt`
  switch (random.below(7)) {
    case 0:
    case 1: {
      const { results } = await device.push(insert(`${name} ${random.below(1_000)}`))
      return void mine.push(results[0]!.id!)
    }
    case 2:
      if (mine.length === 0) return
      await device.push({
        table: 'svc_notes',
        operation: 'UPDATE',
        data: { id: random.of(mine), content: String(random.below(1_000)) },
      })
      return
    case 3:
      if (mine.length === 0) return
      await device.push({ table: 'svc_notes', operation: 'DELETE', data: { id: random.of(mine) } })
      return
    case 4:
      await device.put(path(), String(random.below(5)))
      return
    case 5:
      await device.call(move, { from: path(), to: path() })
      return
    default:
      await device.ask(remove, { path: random.below(2) ? path() : `/${name}/${random.below(3)}` })
  }
}

test.each([1, 2, 3])('whatever is written, reading the feed to its end gives what there is (seed %i)', async (seed) => {
  const account = await server.account()
  let writing = 3
  const writer = async (index: number) => {
    const device = await account.another()
    const random = makeRandom(seed * 100 + index)
    const mine: number[] = []
    for (let round = 0; round < 40; round += 1) await step(device, random, mine, `w${index}`)
    writing -= 1
  }

  const random = makeRandom(seed)
  const rows = new Map<string, unknown>()
  let last = 0
  const reading = follow(
    account,
    () => 1 + random.below(9),
    () => writing === 0,
    (changes) => {
      for (const { table, operation, data, cursor } of changes) {
        expect(cursor).toBeGreaterThan(last)
        last = cursor
        if (operation === 'DELETE') rows.delete(`${table} ${data.id}`)
        else rows.set(`${table} ${data.id}`, data)
      }
    },
  )
  const [cursor] = await Promise.all([reading, writer(0), writer(1), writer(2)])

  const { data, cursor: head } = await account.everything()
  const expected = Object.entries(data).flatMap(([table, all]) =>
    all.map((row) => [`${table} ${row.id}`, row] as const),
  )
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected))
  expect(cursor).toBe(head)
  expect(expected.length).toBeGreaterThan(10)
})

describe('the initial dump', () => {
  test('is of one moment, whatever is written meanwhile, and the feed goes on from there', async () => {
    const account = await server.account()
    const device = await account.another()
    let writing = true
    const write = async () => {
      // A note, a task and a bookmark belong together: whoever sees one sees all three.
      for (let round = 0; round < 40; round += 1) {
        const url = 'https://example.org'
        await device.push(insert(String(round)), insert(String(round), 'svc_tasks'), {
          table: 'svc_bookmarks',
          operation: 'INSERT',
          data: { title: String(round), url },
        })
      }
      writing = false
    }
    const dumps: Awaited<ReturnType<Account['everything']>>[] = []
    const read = async () => {
      while (writing) dumps.push(await account.everything())
    }
    await Promise.all([write(), read()])

    expect(dumps.length).toBeGreaterThan(1)
    for (const { data, cursor } of dumps) {
      const titles = (table: string) => data[table]!.map(({ title }) => title)
      expect(titles('svc_tasks')).toEqual(titles('svc_notes'))
      expect(titles('svc_bookmarks')).toEqual(titles('svc_notes'))
      expect(cursor).toBe(3 * data['svc_notes']!.length)
      const { changes } = await account.delta(cursor)
      expect(changes).toHaveLength(120 - cursor)
      expect(changes.every(({ operation }) => operation === 'INSERT')).toBe(true)
    }
  })
})
