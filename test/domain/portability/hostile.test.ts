import { describe, expect, test } from 'vitest'
import { tarEnd, tarHeader } from '../../../src/base/tar-writer.ts'
import { bytesOf, filesBelow } from '../../support/contents.ts'
import { entryBytes, type Packed } from '../../support/tar.ts'
import { ACCOUNT, anotherServer, archiveOf, HASH, imported, readable } from './world.ts'

const STAMPS = { id: 1, version: 1, created_at: '2026-11-21T12:00:00.000Z', updated_at: '2026-11-21T12:00:00.000Z' }
const ROOM = { name: 'R', type: 'channel', created_at: STAMPS.created_at, members: [] }
const MESSAGE = {
  id: 1,
  from: 'bob',
  name: 'Bob',
  text: 'hi',
  at: STAMPS.created_at,
  edited_at: null,
  reply_to: null,
  reactions: [],
}
const CONVERSATION = { id: 7, title: 'Friday', created_at: STAMPS.created_at, updated_at: STAMPS.created_at }
const SAID = { conversation_id: 7, role: 'user', content: 'Hello', actions: [], at: STAMPS.created_at }
const VERSION = {
  component_id: 'a',
  component_type: 'css',
  code: '',
  metadata: {},
  version: 1,
  is_active: true,
  updated_at: STAMPS.created_at,
}

const lines = (name: string, ...objects: object[]): Packed => ({
  name,
  content: objects.map((object) => `${JSON.stringify(object)}\n`).join(''),
})
const notes = (...rows: object[]) => lines('rows/svc_notes.jsonl', ...rows)
const file = (name: string, content = 'x'): Packed => ({ name, content })
const folder = (name: string): Packed => ({ name: `${name}/`, type: '5' })

const good = archiveOf([notes({ ...STAMPS, title: 'One' }), folder('files/a'), file('files/a/b.txt', 'hello')])

test('an archive put together by hand is taken when it is sound', async () => {
  const server = await anotherServer()
  expect(await imported(server, good)).toEqual([])
  const ada = await server.domain.accounts.byName('ada')
  expect(await server.domain.files.desktop.text(ada.id, '/a/b.txt')).toBe('hello')
  // Other programs fill the last record.
  expect(await imported(await anotherServer(), Buffer.concat([good, Buffer.alloc(9_000)]))).toEqual([])
})

test.each([
  { names: ['x', 'x.md'], folders: ['x', 'x.md (2)'] },
  { names: ['x.md', 'x'], folders: ['x.md', 'x (2)'] },
])('rooms named $names keep their documents and files apart', async ({ names, folders }) => {
  const server = await anotherServer()
  const rooms = names.flatMap((name, index) => [
    lines(`rooms/${index + 1}/room.json`, { ...ROOM, name }),
    lines(`rooms/${index + 1}/messages.jsonl`, { ...MESSAGE, text: `said in ${name}` }),
    file(`rooms/${index + 1}/files/a.txt`, `of ${name}`),
  ])
  await imported(server, archiveOf(rooms))
  const { id } = await server.domain.accounts.byName('ada')
  const { files } = server.domain
  for (const [index, folder] of folders.entries()) {
    expect(await files.desktop.text(id, `/Chats/${folder}/a.txt`)).toBe(`of ${names[index]}`)
    expect(await files.desktop.text(id, `/Chats/${folder}.md`)).toContain(`said in ${names[index]}`)
  }
})

const unlisted = (name: string) => (manifest: { entries: Record<string, unknown>[] }) => ({
  ...manifest,
  entries: manifest.entries.filter(({ path }) => path !== name),
})
const changed = (more: object) => (manifest: { entries: Record<string, unknown>[] }) => ({
  ...manifest,
  entries: manifest.entries.map((entry) => (entry['path'] === 'files/a' ? { ...entry, ...more } : entry)),
})

describe('nothing is changed by', () => {
  test.each<[string, Uint8Array, string]>([
    ['nothing at all', new Uint8Array(0), 'the archive ends too early'],
    ['another archive behind it', Buffer.concat([good, good]), 'there is data after its end'],
    [
      'a byte behind what fills its last record',
      Buffer.concat([good, Buffer.alloc(9_000), Buffer.of(1)]),
      'there is data after its end',
    ],
    ['noise', bytesOf(5_000), 'Nothing was changed'],
    ['an empty archive', tarEnd(), 'its manifest is missing'],
    ['an account alone', archiveOf([], { change: () => undefined }), 'its manifest is missing'],
    ['no account', archiveOf([notes()], { account: null }), 'account.json is missing, or is not at the beginning'],
    [
      'an account of another format',
      archiveOf([], { account: { ...ACCOUNT, format: 'other' } }),
      'account.json, format',
    ],
    ['a newer format', archiveOf([], { account: { ...ACCOUNT, version: 2 } }), 'it was made by a newer version of svc'],
    ['an account that is no object', archiveOf([], { account: [] }), 'account.json'],
    [
      'something behind the manifest',
      Buffer.concat([archiveOf([]).subarray(0, -1_024), entryBytes(file('files/x')), tarEnd()]),
      '"files/x" follows the manifest',
    ],
    [
      'an entry that the manifest does not list',
      archiveOf([file('files/a')], { change: unlisted('files/a') }),
      '"files/a" is not in the manifest',
    ],
    [
      'an entry with another hash',
      archiveOf([file('files/a')], { change: changed({ sha256: '0'.repeat(64) }) }),
      '"files/a" is not what the manifest says',
    ],
    [
      'an entry with another size',
      archiveOf([file('files/a')], { change: changed({ size: 2 }) }),
      '"files/a" is not what the manifest says',
    ],
    [
      'an entry that is missing',
      archiveOf([], {
        change: ({ entries }) => ({
          format: 'svc-account',
          version: 1,
          entries: [...entries, { path: 'files/b', size: 1, sha256: '' }],
        }),
      }),
      '"files/b" is missing',
    ],
    [
      'a manifest of a newer version',
      archiveOf([], { change: (manifest) => ({ ...manifest, version: 2 }) }),
      'it is from a newer version of svc, so update svc first',
    ],
    [
      'a manifest of another form',
      archiveOf([], { change: () => ({ entries: 5 }) }),
      'its manifest is damaged, or not one of svc',
    ],

    ...[
      'files/../x',
      '../x',
      '/etc/passwd',
      'files//x',
      'files/./x',
      'files/a/../../b',
      'files/a\\b',
      'files/a\nb',
      'files/Teamchat/x',
      `files/${'x'.repeat(256)}`,
      `files${'/x'.repeat(70)}`,
      'rooms/1/files/../x',
    ].map((name): [string, Uint8Array, string] => [
      `the name ${JSON.stringify(name.slice(0, 30))}`,
      archiveOf([lines('rooms/1/room.json', ROOM), file(name)]),
      name.startsWith('files/') || name.startsWith('rooms/')
        ? 'names no file that an account can have'
        : 'has no place in the archive',
    ]),
    ...[
      'keys/secret.key',
      'rooms/0/room.json',
      'rooms/01/room.json',
      'rooms/1/other.json',
      'rows/svc_notes.csv',
      'files',
      'Files/x',
    ].map((name): [string, Uint8Array, string] => [
      `the name ${name}`,
      archiveOf([file(name)]),
      'has no place in the archive',
    ]),
    ...['1', '2', '3', '4', '6', '7', 'S', 'V'].map((type): [string, Uint8Array, string] => [
      `an entry of type ${type}`,
      archiveOf([{ name: 'files/x', type }]),
      '"files/x" is neither a file nor a folder',
    ]),
    ['a long name in the way of GNU', archiveOf([{ name: 'files/x', type: 'L' }]), 'GNU long names are not supported'],
    [
      'a folder with a content',
      archiveOf([{ name: 'files/x/', type: '5', content: 'x' }]),
      'the folder "files/x/" has a content',
    ],
    ['a folder in the place of a file', archiveOf([{ name: 'rows/svc_notes.jsonl/', type: '5' }]), 'has no place'],
    ['a name twice', archiveOf([file('files/x'), file('files/x')]), 'there is more than one "files/x"'],
    [
      'a name in two forms of Unicode',
      archiveOf([file('files/\u00e9'), file('files/e\u0301')]),
      'there is more than one',
    ],
    ['rows twice', archiveOf([notes(), notes()]), 'there is more than one "rows/svc_notes.jsonl"'],
    ['a file below a file', archiveOf([file('files/x'), file('files/x/y')]), '"files/x/y" is below a file'],
    [
      'a file in the place of a folder',
      archiveOf([file('files/x/y'), file('files/x')]),
      'there is more than one "files/x"',
    ],
    [
      'a file of the far future',
      archiveOf([{ name: 'files/x', mtime: 100_000_000_000 }]),
      'is of a time too far in the future',
    ],

    [
      'a table nobody knows',
      archiveOf([lines('rows/svc_secrets.jsonl', STAMPS)]),
      'this version of svc knows no table "svc_secrets"',
    ],
    [
      'a column nobody knows',
      archiveOf([notes({ ...STAMPS, title: 'x', user_id: 1 })]),
      'rows/svc_notes.jsonl line 1: svc_notes has no column "user_id"',
    ],
    [
      'a row that breaks a rule',
      archiveOf([notes({ ...STAMPS, title: 'x' }, { ...STAMPS, title: 5 })]),
      'rows/svc_notes.jsonl line 2: title',
    ],
    ['a row without its times', archiveOf([notes({ id: 1, version: 1, title: 'x' })]), 'rows/svc_notes.jsonl line 1'],
    [
      'a row of version 0',
      archiveOf([notes({ ...STAMPS, version: 0, title: 'x' })]),
      'rows/svc_notes.jsonl line 1, version',
    ],
    [
      'a line that is no JSON',
      archiveOf([{ name: 'rows/svc_notes.jsonl', content: '{"id": 1\n' }]),
      'line 1 is not JSON in UTF-8',
    ],
    [
      'a line that has no end',
      archiveOf([{ name: 'rows/svc_notes.jsonl', content: '{}' }]),
      'ends in the middle of a line',
    ],
    [
      'JSON nested without end',
      archiveOf([{ name: 'rows/svc_docs.jsonl', content: `${'['.repeat(100_000)}${']'.repeat(100_000)}\n` }]),
      'line 1: this is nested too deeply',
    ],
    [
      'a name given twice',
      archiveOf([{ name: 'rows/svc_notes.jsonl', content: '{"id":1,"id":2}\n' }]),
      '"id" is given twice',
    ],

    [
      'code that is blocked',
      archiveOf([lines('components.jsonl', { ...VERSION, component_type: 'js', code: 'eval(1)' })]),
      'components.jsonl line 1: Blockierter Code',
    ],
    [
      'a version twice',
      archiveOf([lines('components.jsonl', VERSION, VERSION)]),
      'components.jsonl line 2: this version is there already',
    ],
    [
      'too many profiles',
      archiveOf([
        lines(
          'profiles.jsonl',
          ...Array.from({ length: 51 }, () => ({
            name: 'x',
            is_default: false,
            created_at: STAMPS.created_at,
            components: [],
          })),
        ),
      ]),
      'profiles.jsonl has more than 50 lines',
    ],
    [
      'a conversation twice',
      archiveOf([lines('assistant/conversations.jsonl', CONVERSATION, CONVERSATION)]),
      'assistant/conversations.jsonl line 2: this conversation is there already',
    ],
    [
      'what was said in no conversation',
      archiveOf([
        lines('assistant/conversations.jsonl', CONVERSATION),
        lines('assistant/messages.jsonl', SAID, { ...SAID, conversation_id: 8 }),
      ]),
      'assistant/messages.jsonl line 2: there is no such conversation before it',
    ],
    [
      'what was said before its conversation',
      archiveOf([lines('assistant/messages.jsonl', SAID), lines('assistant/conversations.jsonl', CONVERSATION)]),
      'assistant/messages.jsonl line 1: there is no such conversation before it',
    ],
    [
      'words of the system in a conversation',
      archiveOf([
        lines('assistant/conversations.jsonl', CONVERSATION),
        lines('assistant/messages.jsonl', { ...SAID, role: 'system' }),
      ]),
      'assistant/messages.jsonl line 1, role',
    ],
    [
      'an action that nobody knows',
      archiveOf([
        lines('assistant/conversations.jsonl', CONVERSATION),
        lines('assistant/messages.jsonl', { ...SAID, actions: [{ type: 'format', data: {} }] }),
      ]),
      'assistant/messages.jsonl line 1, actions',
    ],
    [
      'a character that cannot be stored in what was said',
      archiveOf([
        lines('assistant/conversations.jsonl', CONVERSATION),
        lines('assistant/messages.jsonl', { ...SAID, content: 'a\u0000' }),
      ]),
      'assistant/messages.jsonl line 1: the text holds a character',
    ],
    [
      'changes of another form',
      archiveOf([lines('assistant/changes.jsonl', { id: 1, items: 'all' })]),
      'assistant/changes.jsonl line 1',
    ],
    [
      'messages before their room',
      archiveOf([lines('rooms/1/messages.jsonl', MESSAGE), lines('rooms/1/room.json', ROOM)]),
      '"rooms/1/messages.jsonl" comes before its room',
    ],
    [
      'a message without an author',
      archiveOf([lines('rooms/1/room.json', ROOM), lines('rooms/1/messages.jsonl', { ...MESSAGE, from: 5 })]),
      'rooms/1/messages.jsonl line 1, from',
    ],
  ])('%s', async (_, archive, message) => {
    const server = await anotherServer()
    const before = await filesBelow(server.dataDir)
    await expect(imported(server, archive)).rejects.toMatchObject({
      name: 'BadArchive',
      message: expect.stringContaining(message) as string,
    })
    expect(await server.domain.accounts.list()).toEqual([])
    expect(await filesBelow(server.dataDir)).toEqual(before)
  })

  test('an archive that was cut anywhere', async () => {
    const server = await anotherServer()
    for (let end = 0; end < good.length - 512; end += 512)
      await expect(server.domain.portability.planImport(readable(good.subarray(0, end))), `${end}`).rejects.toThrow(
        'Nothing was changed',
      )
    expect(await server.domain.accounts.list()).toEqual([])
  })

  test('an entry that says it is larger than the archive', async () => {
    const server = await anotherServer()
    const lying = Buffer.concat([
      archiveOf([]).subarray(0, -1_024),
      tarHeader({ name: 'files/x', size: 2 ** 40, mtime: 0 }),
      tarEnd(),
    ])
    await expect(imported(server, lying)).rejects.toThrow('Nothing was changed')
  })

  test('an archive that is another one when it is read again', async () => {
    const server = await anotherServer()
    const other = archiveOf([notes({ ...STAMPS, title: 'Two' }), folder('files/a'), file('files/a/b.txt', 'hello')])
    let reads = 0
    const plan = await server.domain.portability.planImport(() => readable(reads++ === 0 ? good : other)())
    await expect(plan.execute({ hash: HASH })).rejects.toThrow('"rows/svc_notes.jsonl" was changed meanwhile')
    expect(await server.domain.accounts.list()).toEqual([])
  })
})

describe('an account', () => {
  test('that is there already stays as it is', async () => {
    const server = await anotherServer()
    await server.domain.accounts.create({ username: 'ada', password: 'analytical engine' })
    await expect(imported(server, good)).rejects.toMatchObject({ code: 'exists' })
    expect(await imported(server, good, { username: 'Grace' })).toEqual([])
    expect((await server.domain.accounts.list()).map(({ username }) => username)).toEqual(['ada', 'grace'])
  })

  test('needs room for its files', async () => {
    const server = await anotherServer()
    await expect(imported(server, good, { quota_bytes: 4 })).rejects.toMatchObject({
      code: 'quota_exceeded',
      message: 'The files need 5 B, and ada could store 4 B: give more with --quota.',
    })
    await server.domain.instance.settings.store('files.max_size', 4)
    await expect(imported(server, good)).rejects.toMatchObject({ code: 'too_large' })
    expect(await server.domain.accounts.list()).toEqual([])
  })

  test('cannot name itself anything', async () => {
    const server = await anotherServer()
    await expect(
      imported(server, archiveOf([], { account: { ...ACCOUNT, username: '../root' } })),
    ).rejects.toMatchObject({
      code: 'bad_request',
    })
    await expect(server.domain.portability.planImport(readable(good), { username: 'system' })).rejects.toMatchObject({
      code: 'bad_request',
    })
    await expect(
      imported(server, archiveOf([], { account: { ...ACCOUNT, display_name: 'a\u001b[31m' } })),
    ).rejects.toMatchObject({ code: 'bad_request' })
    expect(await server.domain.accounts.list()).toEqual([])
  })

  test('is not an administrator because its archive says so', async () => {
    const server = await anotherServer()
    await imported(server, good)
    expect(await server.domain.accounts.byName('ada')).toMatchObject({ role: 'user', quota_bytes: null })
  })

  test('whose import fails is gone, and with it all it brought', async () => {
    const server = await anotherServer()
    const large = archiveOf([notes({ ...STAMPS, title: 'One' }), file('files/large.bin', 'x'.repeat(300_000))])
    let reads = 0
    async function* failing() {
      for await (const piece of readable(large, 50_000)()) {
        if (reads > 1 && piece.byteOffset - large.byteOffset > 200_000) throw new Error('The disk is gone.')
        yield piece
      }
    }
    const plan = await server.domain.portability.planImport(() => {
      reads += 1
      return failing()
    })
    await expect(plan.execute({ hash: HASH })).rejects.toThrow('The disk is gone.')
    expect(await server.domain.accounts.list()).toEqual([])
    expect(await imported(server, large)).toEqual([])
  })

  test('takes no address of an app along that is not allowed here, nor the name of another app', async () => {
    const server = await anotherServer()
    const app = {
      slug: 'files',
      name: 'F',
      description: '',
      icon_url: '',
      app_path: '/apps/x',
      category: 'custom',
      supports_context: false,
    }
    const archive = archiveOf([
      lines(
        'apps.jsonl',
        app,
        { ...app, slug: 'far', app_path: 'https://elsewhere.example/' },
        { ...app, slug: 'own' },
      ),
    ])
    const leftOut = await imported(server, archive)
    expect(leftOut).toEqual([expect.stringMatching(/^app files: /), expect.stringMatching(/^app far: /)])
    const ada = await server.domain.accounts.byName('ada')
    const own = (await server.domain.desktop.apps.list(ada)).filter(({ is_system }) => !is_system)
    expect(own.map(({ slug }) => slug)).toEqual(['own'])
  })
})
