import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Local } from '../../../src/wiring/local-domain.ts'
import { bytesOf } from '../../support/contents.ts'
import { folderOfTest } from '../../support/server.ts'
import { anotherServer, contentsOf, exported, imported } from './world.ts'

const PLACE = { ip: '192.0.2.1', userAgent: 'test' }

async function put({ domain }: Local, user: number, path: string, content: string | Uint8Array, mtime: number) {
  const body = (async function* () {
    yield await Promise.resolve(Buffer.from(content as string))
  })()
  const staged = await domain.files.desktop.receive(body)
  await domain.files.desktop.write(user, path, { staged, mtime })
}

/** An account with something of everything. */
async function fill(local: Local): Promise<number> {
  const { accounts, chat, desktop, files, sync } = local.domain
  const ada = await accounts.create({
    username: 'ada',
    password: 'analytical engine',
    display_name: 'Ada 🜚',
    role: 'admin',
  })
  const bob = await accounts.create({ username: 'bob', password: 'difference engine' })
  await sync.push(ada.id, {
    operations: [
      {
        table: 'svc_notes',
        operation: 'INSERT',
        data: { title: 'One', pinned: true, content: 'line\nline "x" \u2028 é' },
      },
      { table: 'svc_notes', operation: 'INSERT', data: { title: 'Gone' } },
      { table: 'svc_notes', operation: 'INSERT', data: { title: 'Three' } },
      { table: 'svc_docs', operation: 'INSERT', data: { title: 'Plan', tags: ['a', 'b'] } },
      { table: 'svc_places', operation: 'INSERT', data: { name: 'Here', latitude: 1.5, longitude: -3 } },
    ],
  })
  await sync.push(ada.id, {
    operations: [
      { table: 'svc_notes', operation: 'UPDATE', data: { id: 1, title: 'Uno' } },
      { table: 'svc_notes', operation: 'DELETE', data: { id: 2 } },
    ],
  })
  await sync.push(bob.id, {
    operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'Private to Bob' } }],
  })

  await put(local, ada.id, '/hello.txt', 'hello', 1_000_000_000)
  await put(local, ada.id, '/empty', '', 0)
  await put(local, ada.id, `/deep/${'x'.repeat(200)}/ünïcode 日本 -rf.bin`, bytesOf(200_000), 99_999_999_999)
  await put(local, ada.id, '/Chats/own.txt', 'own', 5)
  await put(local, ada.id, '/gone.txt', 'gone', 5)
  await files.desktop.makeFolder(ada.id, '/void/inner')
  await files.desktop.remove(ada.id, '/gone.txt')
  await put(local, bob.id, '/secret.txt', 'of bob', 5)

  for (const code of ['a{}', 'b{}', 'c{}'])
    await desktop.components.save(
      { user: ada.id, allowsCode: true },
      { component_id: 'sky', component_type: 'css', code, metadata: { code } },
    )
  await desktop.components.activate({ user: ada.id, allowsCode: true }, 'sky', 2)
  await desktop.components.save(
    { user: ada.id, allowsCode: true },
    { component_id: 'off', component_type: 'js', code: 'x' },
  )
  await desktop.profiles.save(ada.id, 'Both')
  await desktop.components.reset(ada.id, 'off')
  await desktop.apps.createCustom(ada.id, { name: 'Clock', slug: 'clock', description: 'ticks' }, PLACE)

  const [me, other] = [ada, bob].map(({ id, username, display_name, avatar_color, role }) => ({
    id,
    username,
    display_name,
    avatar_color,
    role,
  }))
  const room = await chat.createRoom(me!, { name: 'Engines / 1', type: 'channel', participants: [bob.id] })
  const first = await chat.send(other!, { room_id: room.room_id, content: 'Good *morning*' })
  await chat.send(me!, { room_id: room.room_id, content: 'Hello', reply_to: first.message_id })
  await chat.react(me!, { message_id: first.message_id, emoji: '👍' })
  await put(local, bob.id, '/Teamchat/Engines _ 1/plans/a.txt', 'a plan', 7)
  await chat.createRoom(me!, { name: 'Bob', type: 'dm', participants: [bob.id] })
  const hidden = await chat.createRoom(other!, { name: 'Hidden', type: 'channel', participants: [] })
  await chat.send(other!, { room_id: hidden.room_id, content: 'not for ada' })
  return ada.id
}

const withoutIds = (content: Buffer): unknown[] =>
  content
    .toString()
    .trim()
    .split('\n')
    .map((line) => ({ ...(JSON.parse(line) as object), id: 0 }))

test('an account arrives on another server as it was', async () => {
  const [here, there] = [await anotherServer(), await anotherServer()]
  await fill(here)
  // Numbers of rows differ on the other server.
  await there.domain.accounts.create({ username: 'root', password: 'some other engine', role: 'admin' })
  await there.domain.sync.push(1, { operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'x' } }] })

  const archive = await exported(here, 'ada')
  expect(await imported(there, archive)).toEqual([])
  const [before, after] = [await contentsOf(archive), await contentsOf(await exported(there, 'ada'))]

  for (const table of ['svc_notes', 'svc_docs', 'svc_places']) {
    const name = `rows/${table}.jsonl`
    expect(withoutIds(after.get(name)!.content), table).toEqual(withoutIds(before.get(name)!.content))
  }
  expect(withoutIds(after.get('rows/svc_notes.jsonl')!.content)).toMatchObject([
    { title: 'Uno', version: 2, pinned: true },
    { title: 'Three', version: 1 },
  ])
  for (const name of ['components.jsonl', 'profiles.jsonl', 'apps.jsonl'])
    expect(after.get(name)!.content.toString(), name).toBe(before.get(name)!.content.toString())

  const treeOf = (entries: typeof before) =>
    [...entries]
      .filter(([name]) => name.startsWith('files/') && !name.startsWith('files/Chats (2)'))
      .map(([name, { type, mtime, content }]) => [name, type, type === '5' ? 0 : mtime, content.toString('base64')])
      .sort()
  expect(treeOf(after)).toEqual(treeOf(before))
  expect(treeOf(before)).toHaveLength(9)

  const { username, display_name, avatar_color, role, quota_bytes, disabled_at } =
    await there.domain.accounts.byName('ada')
  const original = await here.domain.accounts.byName('ada')
  expect({ username, display_name, avatar_color }).toEqual({
    username: 'ada',
    display_name: original.display_name,
    avatar_color: original.avatar_color,
  })
  // Rights and quota are for the new server to give.
  expect({ role, quota_bytes, disabled_at }).toEqual({ role: 'user', quota_bytes: null, disabled_at: null })
})

test('what was said in rooms becomes documents, with the files of the rooms beside them', async () => {
  const [here, there] = [await anotherServer(), await anotherServer()]
  await fill(here)
  await imported(there, await exported(here, 'ada'))
  const ada = (await there.domain.accounts.byName('ada')).id
  const { files, chat } = there.domain
  expect(await chat.rooms(ada)).toEqual([])
  const names = (await files.desktop.list(ada, '/Chats (2)')).map(({ name }) => name)
  expect(names).toEqual(['Engines _ 1', 'Engines _ 1.md'])
  expect(await files.desktop.text(ada, '/Chats (2)/Engines _ 1/plans/a.txt')).toBe('a plan')
  const text = await files.desktop.text(ada, '/Chats (2)/Engines _ 1.md')
  expect(text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'then')).toBe(`# Engines / 1

Channel with Ada 🜚 (ada), bob (bob), as of then UTC.

---

**bob** (bob) · then

Good *morning*

👍 ada

---

**Ada 🜚** (ada) · then

> bob: Good *morning*

Hello
`)
})

test('chat rooms can be left out', async () => {
  const [here, there] = [await anotherServer(), await anotherServer()]
  await fill(here)
  await imported(there, await exported(here, 'ada'), { withoutChats: true })
  const ada = (await there.domain.accounts.byName('ada')).id
  const names = (await there.domain.files.desktop.list(ada, '/')).map(({ name }) => name)
  expect(names).toEqual(['Chats', 'Teamchat', 'deep', 'void', 'empty', 'hello.txt'])
})

test('only what is of the account leaves the server, and no secret', async () => {
  const here = await anotherServer()
  await fill(here)
  const text = (await exported(here, 'ada')).toString('latin1')
  for (const secret of ['argon2', 'Private to Bob', 'of bob', 'not for ada', 'Hidden', 'gone.txt', 'Gone'])
    expect(text.includes(secret), secret).toBe(false)
})

test('an archive is of one moment, and lists each entry with its hash', async () => {
  const here = await anotherServer()
  const ada = await fill(here)
  const { archive } = await here.domain.portability.exportAccount('ada')
  const pieces: Uint8Array[] = []
  let isFirst = true
  for await (const piece of archive) {
    pieces.push(piece)
    if (!isFirst) continue
    isFirst = false
    await here.domain.sync.push(ada, {
      operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'Late' } }],
    })
    await put(here, ada, '/late.txt', 'late', 1)
    await here.domain.files.desktop.erase(ada, '/hello.txt')
  }
  const entries = await contentsOf(Buffer.concat(pieces))
  expect(entries.get('files/hello.txt')!.content.toString()).toBe('hello')
  expect(entries.has('files/late.txt')).toBe(false)
  expect(entries.get('rows/svc_notes.jsonl')!.content.toString()).not.toContain('Late')
  const manifest = JSON.parse(entries.get('manifest.json')!.content.toString()) as { entries: { path: string }[] }
  const listed = manifest.entries.map(({ path }) => path)
  const files = [...entries]
    .filter(([name, { type }]) => type === '0' && name !== 'manifest.json')
    .map(([name]) => name)
  expect(listed).toEqual(files)
})

test('nothing keeps the collector away when somebody stops reading', async () => {
  const here = await anotherServer()
  await fill(here)
  const { archive } = await here.domain.portability.exportAccount('ada')
  for await (const _ of archive) break
  const { currentHolds } = await import('../../../src/storage/contents/collector-holds.ts')
  const { openSqlite } = await import('../../../src/storage/engine/sqlite.ts')
  const database = openSqlite(join(here.dataDir, 'svc.db'))
  expect(await currentHolds(database.read)).toEqual([])
  await database.close()
})

describe('the archive', () => {
  test("is opened by the system's tar", async () => {
    const here = await anotherServer()
    await fill(here)
    const folder = await folderOfTest()
    writeFileSync(join(folder, 'ada.tar'), await exported(here, 'ada'))
    mkdirSync(join(folder, 'out'))
    execFileSync('tar', ['-xf', '../ada.tar'], { cwd: join(folder, 'out') })
    expect(readFileSync(join(folder, 'out/files/hello.txt'), 'utf8')).toBe('hello')
    expect(statSync(join(folder, 'out/files/hello.txt')).mtimeMs).toBe(1_000_000_000_000)
    const deep = `out/files/deep/${'x'.repeat(200)}/ünïcode 日本 -rf.bin`
    expect(readFileSync(join(folder, deep)).equals(bytesOf(200_000))).toBe(true)
    expect(statSync(join(folder, 'out/files/void/inner')).isDirectory()).toBe(true)
  })

  test('may be packed again by hand, in another order of the files', async () => {
    const [here, there] = [await anotherServer(), await anotherServer()]
    await fill(here)
    const folder = await folderOfTest()
    writeFileSync(join(folder, 'ada.tar'), await exported(here, 'ada'))
    mkdirSync(join(folder, 'out'))
    execFileSync('tar', ['-xf', '../ada.tar'], { cwd: join(folder, 'out') })
    const parts = [
      'README.txt',
      'account.json',
      'rows',
      'files',
      'apps.jsonl',
      'components.jsonl',
      'profiles.jsonl',
      'manifest.json',
    ]
    execFileSync('tar', ['--format=pax', '-cf', '../again.tar', '--exclude=rooms', ...parts], {
      cwd: join(folder, 'out'),
    })
    await expect(imported(there, readFileSync(join(folder, 'again.tar')))).rejects.toThrow('"rows/" has no place')
  })
})
