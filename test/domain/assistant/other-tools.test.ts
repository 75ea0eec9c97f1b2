import { describe, expect, test } from 'vitest'
import { wallpapers } from '../../../src/contract/wallpapers.ts'
import type { SandboxFile } from '../../../src/domain/assistant/tools/run-command.ts'
import { channelOf, say } from '../../support/chat.ts'
import { serverOfFile, type TestServer } from '../../support/server.ts'
import { benchOn } from './world.ts'

const server = await serverOfFile()
const bench = benchOn(server)

describe('rows', () => {
  const tasks = async (account: Awaited<ReturnType<TestServer['account']>>) => {
    for (const [title, priority, due_on] of [
      ['Oil the cogs', 3, '2026-12-01'],
      ['Write to Charles', 1, '2026-11-25'],
      ['Rest', 0, null],
    ] as const)
      await account.push({ table: 'svc_tasks', operation: 'INSERT', data: { title, priority, due_on } })
  }

  test('are found by the columns they have, in order', async () => {
    const ada = await server.account()
    await tasks(ada)
    const { use } = await bench.session(ada)
    const titles = async (args: object) =>
      (await use('query_rows', { table: 'svc_tasks', columns: ['title'], ...args })).text
        .split('\n')
        .slice(1)
        .map((line) => (JSON.parse(line) as { title: string }).title)
    expect(await titles({ order_by: 'priority', descending: true })).toEqual([
      'Oil the cogs',
      'Write to Charles',
      'Rest',
    ])
    expect(await titles({ where: [{ column: 'due_on', is: '<', value: '2026-11-30' }] })).toEqual(['Write to Charles'])
    expect(await titles({ where: [{ column: 'due_on', is: '=', value: null }] })).toEqual(['Rest'])
    expect(await titles({ where: [{ column: 'title', is: 'contains', value: 'COGS' }] })).toEqual(['Oil the cogs'])
    expect(
      await titles({
        where: [
          { column: 'done', is: '=', value: false },
          { column: 'priority', is: '>=', value: 1 },
        ],
      }),
    ).toHaveLength(2)
    expect(await use('query_rows', { table: 'svc_tasks', limit: 1 })).toMatchObject({ untrusted: true })
    expect((await use('query_rows', { table: 'svc_tasks', limit: 1 })).text).toMatch(/^3 rows, 1 shown\n\{"id":/)
  })

  test('of others, unknown tables and columns are refused', async () => {
    const [ada, eve] = [await server.account(), await server.account()]
    await tasks(ada)
    const [row] = (await ada.everything()).data['svc_tasks']!
    const { use, changeSet } = await bench.session(eve)
    expect((await use('query_rows', { table: 'svc_tasks' })).text).toBe('0 rows')
    expect(await use('update_row', { table: 'svc_tasks', id: row!.id, values: { title: 'Mine' } })).toMatchObject({
      fault: 'not_found',
    })
    expect(await use('query_rows', { table: 'users' })).toMatchObject({ fault: 'arguments' })
    expect(await use('query_rows', { table: 'svc_tasks', columns: ['user_id'] })).toMatchObject({
      fault: 'bad_request',
    })
    expect(
      await use('query_rows', { table: 'svc_tasks', where: [{ column: "id'; --", is: '=', value: 1 }] }),
    ).toMatchObject({ fault: 'bad_request' })
    expect(await use('insert_row', { table: 'svc_tasks', values: { title: 'x', user_id: ada.id } })).toMatchObject({
      fault: 'bad_request',
    })
    expect(await use('insert_row', { table: 'svc_tasks', values: { priority: 99 } })).toMatchObject({
      fault: 'bad_request',
    })
    expect(changeSet.id()).toBeUndefined()
    expect((await ada.everything()).data['svc_tasks']).toHaveLength(3)
    expect((await eve.everything()).data['svc_tasks']).toEqual([])
  })

  test('are not overwritten when they changed meanwhile', async () => {
    const ada = await server.account()
    await tasks(ada)
    const [row] = (await ada.everything()).data['svc_tasks']!
    const { use } = await bench.session(ada)
    const change = { table: 'svc_tasks', id: row!.id, version: 1 }
    expect((await use('update_row', { ...change, values: { priority: 9 } })).fault).toBeUndefined()
    expect(await use('update_row', { ...change, values: { priority: 8 } })).toMatchObject({ fault: 'conflict' })
    expect((await use('update_row', { ...change, version: 2, values: {} })).text).toContain('nothing changed')
  })
})

describe('chat', () => {
  test('is searched in the rooms of the caller alone', async () => {
    const [ada, eve] = [await server.account(), await server.account()]
    const room = await channelOf(ada)
    await say(ada, room, 'The secret engine')
    const own = await bench.session(ada)
    const found = await own.use('search_messages', { query: 'SECRET' })
    expect(found).toMatchObject({ untrusted: true })
    expect(found.text).toMatch(/^1 message\n#Engines \[2026-11-21T12:00Z\] user-\d+ \(@user-\d+\): The secret engine$/)
    expect((await own.use('search_messages', { query: 'secret', room: 'engines' })).text).toMatch(/^1 message/)
    const other = await bench.session(eve)
    expect((await other.use('search_messages', { query: 'secret' })).text).not.toContain('engine')
    expect((await other.use('search_messages', { query: 'secret', room: 'Engines' })).text).not.toContain('secret')
  })

  test('offers a mention its room and nothing else', async () => {
    const ada = await server.account()
    const [room, other] = [await channelOf(ada), await channelOf(ada)]
    await say(ada, room, 'Read me')
    await say(ada, other, 'Not me')
    await ada.put('/own.txt', 'mine')
    const { desktop } = server.local.domain.files
    const folder = await desktop.roomFolder(ada.id, room)
    const elsewhere = await desktop.roomFolder(ada.id, other)
    for (const [path, text] of [
      [`${folder}/a/plan.txt`, 'The plan'],
      [`${elsewhere}/plan.txt`, 'Another plan'],
    ] as const) {
      const staged = await desktop.receive(
        (async function* () {
          yield await Promise.resolve(Buffer.from(text))
        })(),
      )
      await desktop.write(ada.id, path, { staged })
    }
    const { use, tools } = await bench.session(ada, { room })
    expect(tools.map(({ name }) => name)).toEqual(['read_room_messages', 'list_room_files', 'read_room_file'])
    expect(tools.every(({ effect }) => effect === 'reads')).toBe(true)
    const heard = await use('read_room_messages')
    expect(heard.text).toContain('Read me')
    expect(heard.text).not.toContain('Not me')
    expect((await use('list_room_files', { path: '/' })).text).toBe('1 entry in /\na/')
    expect((await use('read_room_file', { path: '/a/plan.txt' })).text).toBe('The plan')
    for (const path of [
      '/../own.txt',
      '/own.txt',
      `/../${elsewhere.split('/').at(-1)}/plan.txt`,
      '//own.txt',
      '/a\\..\\own.txt',
    ])
      expect((await use('read_room_file', { path })).fault, path).toMatch(/^(bad_path|not_found)$/)
    // Whoever asked and left since is asked for again.
    const eve = await bench.session(await server.account(), { room })
    expect(await eve.use('read_room_messages')).toMatchObject({ fault: 'forbidden' })
    expect(await eve.use('read_room_file', { path: '/a/plan.txt' })).toMatchObject({ fault: 'not_found' })
    expect(await eve.use('list_room_files', { path: '/' })).toMatchObject({ fault: 'not_found' })
  })
})

describe('the desktop', () => {
  test('opens apps the user sees', async () => {
    const ada = await server.account()
    const { use } = await bench.session(ada)
    const [app] = await server.local.domain.desktop.apps.list({ id: ada.id, role: 'user' })
    const { slug } = app!
    expect((await use('open_app', { slug, path: '/a b' })).action).toEqual({
      type: 'open_app',
      data: { slug, path: '/a b' },
    })
    expect((await use('reload_app', { slug })).action).toEqual({ type: 'reload_app', data: { slug } })
    expect((await use('refresh_apps')).action).toEqual({ type: 'refresh_apps', data: {} })
    expect(await use('open_app', { slug: 'no-such-app' })).toMatchObject({ fault: 'not_found' })
    expect(await use('open_app', { slug, path: '/../x' })).toMatchObject({ fault: 'bad_path' })
    await server.set('disabled_apps', [slug])
    expect(await use('open_app', { slug })).toMatchObject({ fault: 'not_found' })
    await server.set('disabled_apps', undefined)
  })

  test('takes a wallpaper it has, or an image of the user', async () => {
    const ada = await server.account()
    await ada.put('/Pictures/sea.png', 'pixels')
    await ada.put('/a.txt', 'text')
    const { use } = await bench.session(ada)
    const [builtIn] = wallpapers
    expect((await use('set_wallpaper', { wallpaper: builtIn })).action?.data).toEqual({ wallpaper: builtIn })
    expect((await use('set_wallpaper', { wallpaper: '/Pictures/sea.png' })).action?.data).toEqual({
      wallpaper: '/Pictures/sea.png',
    })
    expect(await use('set_wallpaper', { wallpaper: 'https://evil.example/x.png' })).toMatchObject({
      fault: 'bad_request',
    })
    expect(await use('set_wallpaper', { wallpaper: '/a.txt' })).toMatchObject({ fault: 'unsupported_media_type' })
    expect(await use('set_wallpaper', { wallpaper: '/none.png' })).toMatchObject({ fault: 'not_found' })
  })

  test('takes styles and widgets, never scripts', async () => {
    const ada = await server.account()
    const { use } = await bench.session(ada)
    const component = { component_id: 'clock', code: '<b>12</b>' }
    expect((await use('save_component', { ...component, component_type: 'widget' })).text).toBe(
      'Saved clock, version 1.',
    )
    expect(await use('save_component', { ...component, component_type: 'js' })).toMatchObject({ fault: 'arguments' })
    expect(
      await use('save_component', { component_id: 'x', component_type: 'css', code: 'ä'.repeat(60_000) }),
    ).toMatchObject({ fault: 'bad_request', text: 'Code zu gross' })
  })
})

describe('commands', () => {
  const ran: { command: string; files: Record<string, string> }[] = []
  const sandbox = {
    async run({ command, files }: { command: string; files: AsyncIterable<SandboxFile> }) {
      const seen: Record<string, string> = {}
      for await (const { path, content } of files) {
        const pieces: Uint8Array[] = []
        if (content instanceof Uint8Array) pieces.push(content)
        else for await (const piece of content) pieces.push(piece)
        seen[path] = Buffer.concat(pieces).toString()
      }
      ran.push({ command, files: seen })
      return { output: 'done\n', code: 0, timedOut: false, truncated: false }
    },
  }

  test('are offered only where there is a sandbox', async () => {
    const ada = await server.account()
    expect((await bench.session(ada)).tools.map(({ name }) => name)).not.toContain('run_command')
    const { tools } = await benchOn(server, { sandbox }).session(ada)
    expect(tools.map(({ name }) => name)).toContain('run_command')
  })

  test('are given the files they name, each once', async () => {
    const ada = await server.account()
    await ada.put('/a/b.txt', 'b')
    await ada.put('/a/c/d.txt', 'd')
    await ada.put('/e.txt', 'e')
    const { use } = await benchOn(server, { sandbox }).session(ada)
    const result = await use('run_command', { command: 'wc -l a/b.txt', paths: ['/a', '/a/b.txt', '/e.txt'] })
    expect(result).toMatchObject({ text: 'It ended with 0.\ndone\n', untrusted: true })
    expect(ran.at(-1)).toEqual({ command: 'wc -l a/b.txt', files: { 'a/b.txt': 'b', 'a/c/d.txt': 'd', 'e.txt': 'e' } })
    expect(await use('run_command', { command: 'ls', paths: ['/none'] })).toMatchObject({ fault: 'not_found' })
    const eve = await benchOn(server, { sandbox }).session(await server.account())
    expect(await eve.use('run_command', { command: 'ls', paths: ['/e.txt'] })).toMatchObject({ fault: 'not_found' })
  })

  test.each([
    'rm -rf /',
    'rm -r -f / ',
    'ls; rm -fR /*',
    'mkfs.ext4 /dev/sda1',
    'dd if=/dev/zero of=/dev/sda',
    ':(){ :|:& };:',
    'sudo ls',
    'echo x | su root',
    'shutdown now',
    'chmod -R 777 /',
    'curl https://example.com',
    'true && wget x',
    'cat /etc/shadow',
    'mount /dev/sda1 /mnt',
    'docker ps',
    'echo x > /dev/sda',
  ])('%s is refused before it starts', async (command) => {
    const before = ran.length
    const { use } = await benchOn(server, { sandbox }).session(await server.account())
    expect(await use('run_command', { command })).toMatchObject({ fault: 'forbidden' })
    expect(ran).toHaveLength(before)
  })

  test.each([
    'rm -rf /tmp/x',
    'grep -r "su" .',
    'sort curls.txt',
    'echo reboots',
    'dd if=a of=b',
    'awk -F/ "{print}" x',
  ])('%s may be tried', async (command) => {
    const { use } = await benchOn(server, { sandbox }).session(await server.account())
    expect((await use('run_command', { command })).fault).toBeUndefined()
  })
})
