import { describe, expect, test } from 'vitest'
import { channelOf } from '../../support/chat.ts'
import { serverOfFile, type TestServer } from '../../support/server.ts'
import { benchOn } from './world.ts'

const server = await serverOfFile()
const bench = benchOn(server)

const pathsOf = async (account: Awaited<ReturnType<TestServer['account']>>) => {
  const { files, directories } = await account.manifest()
  return [...files.map(({ path }) => path), ...directories.map((path) => `${path}/`)].sort()
}

describe('reading', () => {
  test('lists a folder and the shared files of rooms', async () => {
    const ada = await server.account()
    await ada.put('/Letters/one.txt', 'Dear Charles')
    await channelOf(ada)
    const { use } = await bench.session(ada)
    const root = await use('list_files', { path: '/' })
    expect(root).toMatchObject({ untrusted: true })
    expect(root.text).toMatch(/^2 entries in \/\nLetters\/\nTeamchat\/$/)
    expect((await use('list_files', { path: '/Letters' })).text).toContain('one.txt\t12 B\t')
    expect((await use('list_files', { path: '/Teamchat/Engines' })).text).toBe('/Teamchat/Engines is empty.')
  })

  test('reads a long text in parts that join to the whole', async () => {
    const ada = await server.account()
    const whole = Array.from({ length: 3_000 }, (_, line) => `line ${line} of the engine 🚂`).join('\n')
    await ada.put('/long.txt', whole)
    const { use } = await bench.session(ada)
    let read = ''
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const { text } = await use('read_file', { path: '/long.txt', offset })
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536)
      const [, next] = /continue with offset (\d+)/.exec(text.slice(0, 100)) ?? []
      read += text.slice(text.indexOf('\n') + 1)
      offset = next === undefined ? undefined : Number(next)
    }
    expect(read.length).toBe(whole.length)
    expect((await use('read_file', { path: '/long.txt', offset: 9_999_999 })).text).toContain('there is nothing at')
  })

  test('says why a file cannot be read', async () => {
    const ada = await server.account()
    await ada.put('/picture.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]))
    await ada.put('/huge.txt', Buffer.alloc(6 * 1_048_576, 97))
    const { use } = await bench.session(ada)
    expect(await use('read_file', { path: '/picture.png' })).toMatchObject({ fault: 'unsupported_media_type' })
    expect(await use('read_file', { path: '/huge.txt' })).toMatchObject({ fault: 'too_large' })
    expect(await use('read_file', { path: '/none.txt' })).toMatchObject({ fault: 'not_found' })
    expect(await use('read_file', { path: '/' })).toMatchObject({ fault: 'not_found' })
  })

  test('searches by name and by what files hold', async () => {
    const ada = await server.account()
    await ada.put('/Plans/Engine.md', 'Cogs\nand a Müller gear\nend')
    await ada.put('/Plans/old/engine-2.md', 'nothing here')
    await ada.put('/other.bin', Buffer.from([0, 1, 2, 3]))
    const { use } = await bench.session(ada)
    expect((await use('search_files', { name: 'ENGINE' })).text).toBe(
      '2 hits\n/Plans/Engine.md\n/Plans/old/engine-2.md',
    )
    const found = await use('search_files', { content: 'MÜLLER' })
    expect(found.text).toBe('1 hit\n/Plans/Engine.md  line 2: and a Müller gear')
    expect((await use('search_files', { folder: '/Plans/old', content: 'Müller' })).text).toBe(
      'Nothing found in 1 entry.',
    )
    expect(await use('search_files', {})).toMatchObject({ fault: 'bad_request' })
    expect(await use('search_files', { folder: '/none', name: 'x' })).toMatchObject({ fault: 'not_found' })
  })

  test('ends a search that finds too much, and says so', async () => {
    const ada = await server.account()
    for (let each = 0; each < 60; each += 1) await ada.put(`/many/file-${each}.txt`, 'x')
    const { text } = await (await bench.session(ada)).use('search_files', { name: 'file' })
    expect(text).toMatch(/^50 hits \[not complete/)
    expect(text.split('\n')).toHaveLength(51)
  })

  test('ends a search when nobody waits for it any more', async () => {
    const ada = await server.account()
    await ada.put('/a.txt', 'x')
    const { use } = await bench.session(ada, { signal: AbortSignal.abort() })
    await expect(use('search_files', { name: 'a' })).rejects.toThrow(/abort/i)
  })
})

describe('changing', () => {
  test('writes, replaces, moves, copies, deletes into the trash', async () => {
    const ada = await server.account()
    const { use } = await bench.session(ada)
    expect((await use('write_file', { path: '/Notes/a.txt', content: 'one' })).text).toBe('Wrote /Notes/a.txt.')
    expect(await use('write_file', { path: '/Notes/a.txt', content: 'two' })).toMatchObject({ fault: 'exists' })
    await use('replace_file', { path: '/Notes/a.txt', content: 'two' })
    expect((await use('read_file', { path: '/Notes/a.txt' })).text).toBe('two')
    await use('make_folder', { path: '/Archive/2026' })
    await use('copy_file', { from: '/Notes/a.txt', to: '/Archive/2026/a.txt' })
    await use('move_file', { from: '/Notes/a.txt', to: '/Notes/b.txt' })
    await use('delete_file', { path: '/Archive' })
    expect(await pathsOf(ada)).toEqual(['/Notes/', '/Notes/b.txt'])
    expect((await server.local.domain.files.trash.list(ada.id)).map(({ path }) => path)).toEqual(['/Archive'])
  })

  test('changes nothing where it must not', async () => {
    const ada = await server.account({ quota: 10 })
    await ada.put('/a.txt', '12345')
    await ada.put('/b/c.txt', '12')
    const before = await pathsOf(ada)
    const session = await bench.session(ada)
    const refused = async (name: string, args: Record<string, unknown>) => (await session.use(name, args)).fault
    expect(await refused('write_file', { path: '/new.txt', content: 'more than ten bytes' })).toBe('quota_exceeded')
    expect(await refused('write_file', { path: '/b', content: 'x' })).toBe('exists')
    expect(await refused('replace_file', { path: '/b', content: 'x' })).toBe('exists')
    expect(await refused('write_file', { path: '/../etc/passwd', content: 'x' })).toBe('bad_path')
    expect(await refused('write_file', { path: '/a\0b', content: 'x' })).toBe('bad_path')
    expect(await refused('write_file', { path: 'a.txt', content: 'x' })).toBe('bad_path')
    expect(await refused('write_file', { path: '/x.txt', content: 'half \ud800' })).toBe('bad_request')
    expect(await refused('write_file', { path: '/Teamchat/x.txt', content: 'x' })).toBe('forbidden')
    expect(await refused('move_file', { from: '/b', to: '/b/inside' })).toBe('bad_request')
    expect(await refused('move_file', { from: '/b', to: '/a.txt' })).toBe('exists')
    expect(await refused('move_file', { from: '/none', to: '/y' })).toBe('not_found')
    expect(await refused('copy_file', { from: '/a.txt', to: '/Teamchat/Engines/a.txt' })).toBe('cross_domain')
    expect(await refused('copy_file', { from: '/b', to: '/b2' })).toBe(undefined)
    expect(await refused('copy_file', { from: '/a.txt', to: '/a2.txt' })).toBe('quota_exceeded')
    expect(await refused('delete_file', { path: '/' })).toBe('bad_path')
    expect(await refused('delete_file', { path: '/none' })).toBe('not_found')
    expect(await refused('write_file', { path: '/x', content: 'x', more: 1, __proto__: {} })).toBe(undefined)
    expect(await refused('write_file', { path: 7, content: 'x' })).toBe('arguments')
    expect(await pathsOf(ada)).toEqual([...before, '/b2/', '/b2/c.txt', '/x'].sort())
  })

  test('never reaches what belongs to somebody else', async () => {
    const [ada, eve] = [await server.account(), await server.account()]
    await ada.put('/secret.txt', 'the key')
    await channelOf(ada)
    const { use, changeSet } = await bench.session(eve)
    expect(await use('read_file', { path: '/secret.txt' })).toMatchObject({ fault: 'not_found' })
    expect(await use('list_files', { path: '/Teamchat/Engines' })).toMatchObject({ fault: 'not_found' })
    expect(await use('write_file', { path: '/Teamchat/Engines/x.txt', content: 'x' })).toMatchObject({
      fault: 'not_found',
    })
    expect(await use('delete_file', { path: '/secret.txt' })).toMatchObject({ fault: 'not_found' })
    expect((await use('search_files', { content: 'key' })).text).toBe('Nothing found in 1 entry.')
    expect(changeSet.id()).toBeUndefined()
    expect(await pathsOf(ada)).toEqual(['/secret.txt'])
  })

  test('writes that come side by side are all there, in one change set', async () => {
    const ada = await server.account()
    const { use, changeSet } = await bench.session(ada)
    const names = Array.from({ length: 8 }, (_, each) => `/side/${each}.txt`)
    const results = await Promise.all(names.map((path) => use('write_file', { path, content: path })))
    expect(results.map(({ fault }) => fault)).toEqual(names.map(() => undefined))
    expect(await pathsOf(ada)).toEqual(['/side/', ...names])
    const { changes } = await bench.ledger.list(ada.id, {})
    expect(changes.map(({ change_set_id, items }) => [change_set_id, items.length])).toEqual([[changeSet.id(), 9]])
  })
})
