import { expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { insertRowsIn } from '../../src/domain/sync/sync.ts'
import { coalesceWrites } from '../../src/http/coalesced-writes.ts'
import { rootOf } from '../../src/storage/files/nodes.ts'
import type { Row } from '../support/account.ts'
import { channelOf } from '../support/chat.ts'
import { sha256Of } from '../support/contents.ts'
import { serverOfFile } from '../support/server.ts'

const server = await serverOfFile()

/** Of each kind: several times what is read at one go, and a part of that. */
const COUNT = 5_600
const numbers = Array.from({ length: COUNT }, (_, number) => number)

/** What an operation answers, and how often others had their turn of the event loop until then. */
async function turnsDuring<T>(operation: () => Promise<T>): Promise<{ answer: T; turns: number }> {
  let turns = 0
  let running = true
  const count = (): void => {
    if (!running) return
    turns += 1
    setImmediate(count)
  }
  setImmediate(count)
  const answer = await operation()
  running = false
  return { answer, turns }
}

/** Rows put straight into the database, a hundred at once. */
const inHundreds = async (insert: (part: number[]) => Promise<unknown>) => {
  for (let at = 0; at < COUNT; at += 100) await insert(numbers.slice(at, at + 100))
}

test('a folder with very many entries is listed in order while others have their turn', async () => {
  const ada = await server.account()
  await ada.put('/d/A-folder/x', 'x')
  await server.database.write('instance', async (tx) => {
    const top = await rootOf(tx, ada.id)
    const { id } = await tx.q.selectFrom('nodes').select('id').where('parent_id', '=', top).executeTakeFirstOrThrow()
    const made = { user_id: ada.id, parent_id: id, size: 0, mtime: 5, version: 1, created_at: 1, updated_at: 1 }
    await inHundreds((part) =>
      tx.q
        .insertInto('nodes')
        .values(
          part.map((number) => {
            // Large letters stand before small ones in a listing, and among them in the index.
            const name = `${number % 2 === 0 ? 'N' : 'n'}ame ${(number * 7_919) % COUNT}`
            return { ...made, name, name_key: name.toLowerCase(), type: 'directory' as const }
          }),
        )
        .execute(),
    )
  })
  const names = numbers.map((number) => `${number % 2 === 0 ? 'N' : 'n'}ame ${(number * 7_919) % COUNT}`)
  const { desktop } = server.local.domain.files
  const { answer, turns } = await turnsDuring(() => desktop.list(ada.id, '/d'))
  expect(answer.map(({ name }) => name)).toEqual(['A-folder', ...names].sort())
  expect(turns).toBeGreaterThan(5)
  expect(await ada.ask(filesystem.actions.list, { path: '/d' })).toEqual({ ok: true, items: answer, path: '/d' })
})

test('a first synchronisation of very many rows is one state, in order, and lets others have their turn', async () => {
  const ada = await server.account()
  const bob = await server.account()
  const room = await channelOf(ada)
  await bob.put('/x', 'x')
  const now = '2026-01-01T00:00:00.000Z'
  await server.database.write('instance', async (tx) => {
    const top = await rootOf(tx, ada.id)
    const made = { user_id: ada.id, parent_id: top, size: 0, mtime: 5, version: 1, created_at: 1, updated_at: 1 }
    await inHundreds((part) =>
      tx.q
        .insertInto('nodes')
        .values(
          part.map((number) => {
            const type = number % 3 === 0 ? ('directory' as const) : ('file' as const)
            const sha256 = type === 'file' ? sha256Of('x') : null
            return { ...made, name: `n${number}`, name_key: `n${number}`, type, sha256 }
          }),
        )
        .execute(),
    )
    await inHundreds((part) =>
      tx.q
        .insertInto('svc_notes' as never)
        .values(
          part.map((number) => ({
            user_id: number % 10 === 0 ? bob.id : ada.id,
            version: 1,
            created_at: now,
            updated_at: now,
            title: `${number}`,
          })) as never,
        )
        .execute(),
    )
    await inHundreds((part) =>
      tx.q
        .insertInto('messages')
        .values(
          part.map((number) => ({
            room_id: room,
            user_id: ada.id,
            content: `${number}`,
            timestamp: number,
            version: 1,
          })),
        )
        .execute(),
    )
  })
  const { answer, turns } = await turnsDuring(() => server.local.domain.sync.everything(ada.id))
  expect(turns).toBeGreaterThan(12)
  const { data } = await ada.everything()
  expect(data).toEqual(JSON.parse(JSON.stringify(answer.data)))
  const of = (table: string, column: string) => data[table]!.map((row) => row[column])
  expect(of('svc_files', 'name')).toEqual(numbers.map((number) => `n${number}`))
  expect(of('svc_notes', 'title')).toEqual(numbers.filter((number) => number % 10 !== 0).map(String))
  expect(of('svc_messages', 'content')).toEqual(numbers.map(String))
  const { data: others } = await bob.everything()
  const count = (table: string) => others[table]!.length
  expect([count('svc_files'), count('svc_notes'), count('svc_messages')]).toEqual([1, COUNT / 10, 0])
})

test('pages of very many and very large changes are read in order while others have their turn, and large ones end early', async () => {
  const ada = await server.account()
  const large = 'x'.repeat(400_000)
  const first = numbers.slice(0, 2_500)
  const second = numbers.slice(2_500, 2_560)
  await server.database.write('instance', (tx) =>
    insertRowsIn(
      tx,
      ada.id,
      [...first, ...second].map((number) => ({
        table: number % 3 === 0 ? 'svc_docs' : 'svc_notes',
        values: { title: `${number}`, content: second.includes(number) ? large : '' },
      })),
      server.clock.now(),
    ),
  )
  const { sync } = server.local.domain
  const { answer, turns } = await turnsDuring(() =>
    sync.changesSince(ada.id, { cursor: 0, limit: 5_000 }, () => new AbortController().signal),
  )
  const titles = (changes: readonly { data: Row }[]) => changes.map(({ data }) => data['title'])
  const all = [...first, ...second].map(String)
  // 16 MiB of large ones, after all of the small.
  expect([answer.has_more, answer.count]).toEqual([true, 2_542])
  expect(titles(answer.changes)).toEqual(all.slice(0, 2_542))
  expect(turns).toBeGreaterThan(20)

  const page = await ada.delta(0, { limit: 5_000 })
  expect(page.changes).toEqual(JSON.parse(JSON.stringify(answer.changes)))
  const rest = await ada.delta(page.cursor, { limit: 5_000 })
  expect([titles(rest.changes), rest.has_more]).toEqual([all.slice(2_542), false])
  for (const limit of [1, 199, 200, 201, 2_000])
    expect(titles((await ada.delta(0, { limit })).changes)).toEqual(all.slice(0, limit))

  const whole = await turnsDuring(() => sync.everything(ada.id))
  // Large rows are read few at a time: 2,560 small ones would be three parts.
  expect(whole.turns).toBeGreaterThan(20)
  expect(whole.answer.data['svc_notes']!.toJSON().map(({ title }) => title)).toEqual(
    all.filter((title) => Number(title) % 3 > 0),
  )
})

test('a search in very many messages finds the newest of all rooms while others have their turn', async () => {
  const ada = await server.account()
  const bob = await server.account()
  const rooms = [await channelOf(ada), await channelOf(ada), await channelOf(bob)]
  const texts = numbers.map((number) => (number % 30 === 0 ? `A ZEBRA ${number}` : `A HORSE ${number}`))
  await server.database.write('instance', (tx) =>
    inHundreds((part) =>
      tx.q
        .insertInto('messages')
        .values(
          part.map((number) => ({
            room_id: rooms[number % 3]!,
            user_id: ada.id,
            content: `${number}`,
            folded: texts[(number * 7) % COUNT]!,
            timestamp: 1 + Math.floor(number / 3),
            version: 1,
          })),
        )
        .execute(),
    ),
  )
  const found = (word: string, most = 100) =>
    numbers
      .filter((number) => number % 3 < 2 && texts[(number * 7) % COUNT]!.includes(word))
      .sort((a, b) => b - a)
      .slice(0, most)
      .map(String)
  const { chat } = server.local.domain
  const { answer, turns } = await turnsDuring(() => chat.search(ada.id, { query: 'zebra' }))
  expect(answer.map(({ content }) => content)).toEqual(found('ZEBRA'))
  expect(turns).toBeGreaterThan(5)
  for (const word of ['horse', 'zebra', 'zebra 51', 'cow']) {
    const { messages } = await ada.ask(teamChat.actions.search, { query: word })
    expect(messages.map(({ content }) => content)).toEqual(found(word.toUpperCase()))
  }
  const { messages } = await ada.ask(teamChat.actions.search, { query: 'horse', room_id: rooms[1]! })
  expect(messages.map(({ content }) => Number(content) % 3)).toEqual(Array.from({ length: 100 }, () => 1))
})

test('others have their turn while an archive of contents in the database is sent', async () => {
  const pieces = async function* () {
    for (const number of numbers) yield await Promise.resolve(Buffer.alloc(1_024, number))
  }
  const { answer, turns } = await turnsDuring(async () => {
    let bytes = 0
    for await (const piece of coalesceWrites(pieces())) bytes += piece.length
    return bytes
  })
  expect(answer).toBe(COUNT * 1_024)
  expect(turns).toBeGreaterThan(COUNT / 64 - 2)
})
