import { readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { search } from '../../src/contract/search.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { clientOf, type Account } from '../support/account.ts'
import { channelOf, say } from '../support/chat.ts'
import { runCommandWith } from '../support/command.ts'
import { folderOfTest, serverOfFile, serverOfTest, startServer } from '../support/server.ts'

const { find } = search.actions

const server = await serverOfFile({ indexAfterMs: 0 })

const PATIENCE = { timeout: 20_000 }

const insert = (table: string, data: object) => ({ table, operation: 'INSERT', data })

const found = async (account: Pick<Account, 'ask'>, query: string, more: object = {}) => {
  const { results } = await account.ask(find, { query, ...more })
  return results.map(({ kind, title, path }) => `${kind} ${path ?? title}`).sort()
}

const finds = (account: Pick<Account, 'ask'>, query: string, ...expected: string[]) =>
  expect.poll(() => found(account, query), PATIENCE).toEqual(expected)

test('finds rows of every kind, files by name, and messages', async () => {
  const account = await server.account()
  const room = await channelOf(account)
  await say(account, room, 'Did you see the QUOKKA?')
  await account.put('/inline.md', '# About the quokka')
  await account.put('/large.txt', `${'It lives on an island. '.repeat(4_000)} quokka`)
  await account.put('/binary.txt', Buffer.from('quokka\0\xff', 'latin1'))
  await account.put('/Zoo/My Quokka 1.txt', 'text')
  await account.push(
    insert('svc_notes', { title: 'Tea', content: 'Earl Grey with quokka' }),
    insert('svc_docs', { title: 'Zoo', content: 'The quokka is small', tags: ['animals'] }),
    insert('svc_events', { title: 'Visit', starts_at: '2026-05-01T10:00:00Z', location: 'Quokka Island' }),
    insert('svc_contacts', { name: 'Quokka, Ada', email: 'ada@example.org' }),
    insert('svc_tasks', { title: 'Feed', note: 'the quokka' }),
    insert('svc_bookmarks', { title: 'Wiki', url: 'https://example.org/quokka' }),
  )
  await finds(
    account,
    'quokka',
    'bookmark Wiki',
    'contact Quokka, Ada',
    'doc Zoo',
    'event Visit',
    'file /Zoo/My Quokka 1.txt',
    'file /inline.md',
    'file /large.txt',
    `message ${account.username} · Engines`,
    'note Tea',
    'task Feed',
  )
  expect(await found(account, 'quokka', { kinds: ['note', 'file'] })).toEqual([
    'file /Zoo/My Quokka 1.txt',
    'file /inline.md',
    'file /large.txt',
    'note Tea',
  ])
  const { results } = await account.ask(find, { query: 'grey' })
  expect(results).toMatchObject([{ kind: 'note', snippet: 'Earl Grey with quokka', room_id: null, path: null }])
  await expect.poll(async () => (await account.ask(find, { query: 'grey' })).complete, PATIENCE).toBe(true)
  const env = { HOME: server.dataDir, SVC_URL: server.url, SVC_TOKEN: account.token }
  const { code, stdout } = await runCommandWith(env, 'search', 'my quokka', '--kind', 'note,file')
  expect([code, stdout]).toEqual([0, 'file /Zoo/My Quokka 1.txt\n'])
})

test('follows changes, renames, the trash and deletions', async () => {
  const account = await server.account()
  await account.put('/a/wombat.txt', 'text')
  const { results } = await account.push(insert('svc_notes', { title: 'Wombat', content: 'one' }))
  await finds(account, 'wombat', 'file /a/wombat.txt', 'note Wombat')
  await account.ask(syncFiles.actions.move, { from: '/a', to: '/b' })
  expect(await found(account, 'wombat')).toEqual(['file /b/wombat.txt', 'note Wombat'])
  await account.ask(syncFiles.actions.move, { from: '/b/wombat.txt', to: '/b/koala.txt' })
  await account.push({ table: 'svc_notes', operation: 'UPDATE', data: { id: results[0]!.id, title: 'Numbat' } })
  await finds(account, 'numbat', 'note Numbat')
  expect(await found(account, 'koala')).toEqual(['file /b/koala.txt'])
  expect(await found(account, 'wombat')).toEqual([])
  // Gone at once, whatever the index says.
  await account.ask(syncFiles.actions.delete, { path: '/b' })
  expect(await found(account, 'koala')).toEqual([])
  await account.push({ table: 'svc_notes', operation: 'DELETE', data: { id: results[0]!.id } })
  expect(await found(account, 'numbat')).toEqual([])
})

test('shows only what the caller may see', async () => {
  const [ada, bob, cyd] = [await server.account(), await server.account(), await server.account()]
  await ada.push(insert('svc_notes', { title: 'Platypus' }))
  await ada.put('/platypus.txt', 'text')
  const room = await channelOf(ada, bob)
  await say(ada, room, 'A platypus!')
  await finds(bob, 'platypus', `message ${ada.username} · Engines`)
  expect(await found(cyd, 'platypus')).toEqual([])
  await bob.ask(teamChat.actions.leave, { room_id: room })
  expect(await found(bob, 'platypus')).toEqual([])
})

describe('a query', () => {
  const TITLES = [
    'STRASSE',
    'Über',
    'creme brulee',
    'Stromrechnung',
    '私は東京に住んでいます',
    'ฉันอยู่ในประเทศไทย',
    'هذا كِتَابٌ جديد',
    'ΟΔΟΣ',
    'report_final-2024.pdf',
    'Plan B',
    'Party 🎉',
    'last',
  ]
  let account: Account
  beforeAll(async () => {
    account = await server.account()
    await account.push(...TITLES.map((title) => insert('svc_notes', { title, content: `x ${title} y` })))
    // The last that is written is indexed last.
    await vi.waitUntil(async () => (await found(account, 'last')).includes('note last'), PATIENCE)
  })

  test.each([
    ['straße', 'STRASSE'],
    ['uber', 'Über'],
    ['Crème', 'creme brulee'],
    ['rechnung', 'Stromrechnung'],
    ['strom', 'Stromrechnung'],
    ['東京', '私は東京に住んでいます'],
    ['住', '私は東京に住んでいます'],
    ['ประเทศ', 'ฉันอยู่ในประเทศไทย'],
    ['كتاب', 'هذا كِتَابٌ جديد'],
    ['οδος', 'ΟΔΟΣ'],
    ['report 2024', 'report_final-2024.pdf'],
    ['b', 'Plan B'],
    ['"plan" b*', 'Plan B'],
    ['🎉', 'Party 🎉'],
  ])('%s finds %s', async (query, title) => {
    expect(await found(account, query)).toContain(`note ${title}`)
  })

  test.each([
    ['a star', '*'],
    ['a quotation mark', '"'],
    ['an open quotation mark', 'a"z'],
    ['operators', '" OR "'],
    ['NEAR', 'NEAR(a z)'],
    ['a column', 'term : z'],
    ['the mark of an account', '-u1'],
    ['the mark of a title', '_z'],
    ['operators of Postgres', "z' & !q | ('c:*"],
    ['a backslash', '\\'],
    ['a control character', 'q\u0007z'],
    ['half of a character', '\ud835'],
    ['10,000 letters', 'z'.repeat(10_000)],
    ['10,000 Chinese characters', '猫'.repeat(10_000)],
    ['10,000 characters in words', 'z q '.repeat(2_500)],
    ['nothing', ''],
  ])('%s is text', async (_, query) => {
    const { status, json } = await account.call(find, { query })
    expect([status, json.results ?? json.code]).toEqual(query.isWellFormed() ? [200, []] : [400, 'bad_request'])
  })

  test('has pages without repetitions, titles first', async () => {
    const other = await server.account()
    await other.push(
      ...Array.from({ length: 30 }, (__, at) => insert('svc_notes', { title: `Kea ${at}`, content: 'kea' })),
      ...Array.from({ length: 10 }, (__, at) => insert('svc_notes', { title: `Bird ${at}`, content: 'a kea' })),
    )
    await expect.poll(() => found(other, 'kea', { limit: 100 }), PATIENCE).toHaveLength(40)
    const titles: string[] = []
    let cursor: string | null | undefined
    while (cursor !== null) {
      const page = await other.ask(find, { query: 'kea', limit: 7, ...(cursor && { cursor }) })
      titles.push(...page.results.map(({ title }) => title))
      cursor = page.next
    }
    expect(new Set(titles).size).toBe(40)
    expect(titles.slice(0, 30).every((title) => title.startsWith('Kea'))).toBe(true)
    expect((await other.call(find, { query: 'kea', cursor: '7' })).status).toBe(400)
  })
})

test.skipIf(inject('postgres') !== undefined)(
  'a damaged index is built again, and until then the search says so',
  async () => {
    const dataDir = await folderOfTest()
    await writeFile(join(dataDir, 'search.db'), Buffer.alloc(100_000, 'x'))
    const before = await startServer({ dataDir })
    const account = await before.account()
    await account.push(insert('svc_notes', { title: 'Dugong' }))
    expect(await account.ask(find, { query: 'dugong' })).toMatchObject({ results: [], complete: false })
    await before.close()
    const { url } = await serverOfTest({ dataDir, indexAfterMs: 0 })
    const again = clientOf(url, account.token)
    await expect
      .poll(() => again.ask(find, { query: 'dugong' }), PATIENCE)
      .toMatchObject({ results: [{ title: 'Dugong' }], complete: true })
  },
)

test('files whose contents the store could not give are found by them once it can, also after a restart', async () => {
  const dataDir = await folderOfTest()
  const before = await startServer({ dataDir })
  const account = await before.account()
  const text = (word: string) => `${'It lives in the sea. '.repeat(4_000)} ${word}`
  await account.put('/kept.txt', text('dugong'))
  await before.close()
  const blobs = (await readdir(dataDir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
  expect(blobs).toHaveLength(1)
  const [blob] = blobs
  const hide = () => rename(blob!, `${blob}.away`)
  const show = () => rename(`${blob}.away`, blob!)
  const serving = async (check: (again: Pick<Account, 'ask'>) => Promise<void>) => {
    const next = await startServer({ dataDir, indexAfterMs: 0 })
    try {
      await check(clientOf(next.url, account.token))
    } finally {
      await next.close()
    }
  }

  // While the index is built.
  await hide()
  await serving((again) => finds(again, 'kept', 'file /kept.txt'))
  await show()
  await serving((again) => finds(again, 'dugong', 'file /kept.txt'))
  // When the file changes.
  await hide()
  await serving(async (again) => {
    await again.ask(syncFiles.actions.move, { from: '/kept.txt', to: '/moved.txt' })
    await finds(again, 'moved', 'file /moved.txt')
    expect(await found(again, 'dugong')).toEqual([])
  })
  await show()
  await serving((again) => finds(again, 'dugong', 'file /moved.txt'))
})

describe.skipIf(inject('postgres') !== undefined)('the index of a SQLite installation', () => {
  const NOTES = 600

  test('is continued by the next server when one stops while building it', async () => {
    const dataDir = await folderOfTest()
    const before = await startServer({ dataDir, indexAfterMs: 0 })
    const account = await before.account()
    for (let at = 0; at < NOTES; at += 100)
      await account.push(
        ...Array.from({ length: 100 }, (_, row) => insert('svc_notes', { title: `Kiwi ${at + row}`, content: 'bird' })),
      )
    await before.close()
    const { url } = await serverOfTest({ dataDir, indexAfterMs: 0 })
    const again = clientOf(url, account.token)
    await again.push(insert('svc_notes', { title: 'Kiwi last' }))
    await expect
      .poll(async () => {
        const titles = new Set<string>()
        for (let cursor: string | null | undefined; cursor !== null;) {
          const page = await again.ask(find, { query: 'kiwi', limit: 100, ...(cursor && { cursor }) })
          for (const { title } of page.results) titles.add(title)
          cursor = page.next
        }
        return titles.size
      }, PATIENCE)
      .toBe(NOTES + 1)
  })

  test('is built again when it is damaged while the server has it open', async () => {
    const dataDir = await folderOfTest()
    const { url, account: signUp } = await serverOfTest({ dataDir, indexAfterMs: 0 })
    const account = await signUp()
    await account.push(insert('svc_notes', { title: 'Okapi' }))
    await finds(account, 'okapi', 'note Okapi')
    for (const ending of ['', '-wal']) await writeFile(join(dataDir, `search.db${ending}`), Buffer.alloc(100_000, 'x'))
    await account.push(insert('svc_notes', { title: 'Okapi 2' }))
    await expect
      .poll(() => clientOf(url, account.token).ask(find, { query: 'okapi' }), PATIENCE)
      .toMatchObject({ results: [{ title: 'Okapi 2' }, { title: 'Okapi' }], complete: true })
  })
})
