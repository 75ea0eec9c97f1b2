import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isFault } from '../../../src/contract/errors.ts'
import { tables as declared } from '../../../src/contract/tables.ts'
import { seedSchema } from '../../../src/domain/seed/seed.ts'
import { bytesOf, sha256Of } from '../../support/contents.ts'
import { rowsAndCursorOf } from '../../support/everything.ts'
import { linesOf, makeWorld, type World } from './world.ts'

const TEAM = `
settings:
  quota.default: 1GB
  disabled_apps: [finance]
apps:
  - slug: clock
    name: Clock
users:
  - username: ada
    display_name: Ada Lovelace
    role: admin
    quota: 10GB
    password: analytical engine
    rows:
      svc_notes:
        - {key: one, title: One, pinned: true}
        - {key: two, title: Two}
      svc_docs:
        - {key: plan, title: Plan, tags: [a, b]}
    components:
      - {id: sky, type: css, code: "body{}", metadata: {a: 1}}
    files:
      - {path: /Notes/a.txt, text: "hello\\n", mtime: 2026-01-02T03:04:05Z}
      - {path: /b.bin, base64: AAEC}
      - {path: /Empty, folder: true}
  - username: bob
    password: difference engine
rooms:
  - name: Engines
    creator: ada
    members: [bob]
    messages:
      - {id: m1, from: ada, text: Good morning}
      - {id: m2, from: bob, text: Hello, reply_to: m1}
  - {name: "Ada and Bob", type: dm, creator: ada, members: [bob]}
`
const THINGS = 17

const notesOf = async ({ local }: World, user: number) =>
  (await rowsAndCursorOf(local.domain.sync, user)).data['svc_notes']!

const author = async ({ local }: World, name: string) => {
  const { id, username, display_name, avatar_color, role } = await local.domain.accounts.byName(name)
  return { id, username, display_name, avatar_color, role }
}

/** Everything the service shows of some accounts, without what moves by itself. */
async function stateOf(world: World, ...names: string[]) {
  const { accounts, sync, desktop, chat } = world.local.domain
  const state = []
  for (const name of names) {
    const { id } = await accounts.byName(name)
    const { data, cursor } = await rowsAndCursorOf(sync, id)
    state.push({ data, cursor, components: await desktop.components.list(id), rooms: await chat.rooms(id) })
  }
  return state
}

const several = <T>(count: number, make: (number: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

describe('a seed', () => {
  test('makes all it names', async () => {
    const world = await makeWorld()
    await world.seed(TEAM)
    const { accounts, chat, desktop, files, instance, sync } = world.local.domain
    const ada = await accounts.details('ada')
    expect(ada).toMatchObject({
      display_name: 'Ada Lovelace',
      role: 'admin',
      quota_bytes: 10 * 1024 ** 3,
      used_bytes: 9,
    })
    expect(await accounts.details('bob')).toMatchObject({ role: 'user', quota_bytes: null, effective_quota: 1024 ** 3 })
    expect((await instance.settings.values()).disabled_apps).toEqual(['finance'])
    expect((await desktop.apps.list(await author(world, 'bob'))).map(({ slug }) => slug)).toContain('clock')

    const { data } = await rowsAndCursorOf(sync, ada.id)
    expect(data['svc_notes']).toMatchObject([
      { title: 'One', pinned: true, version: 1 },
      { title: 'Two', pinned: false },
    ])
    expect(data['svc_docs']).toMatchObject([{ title: 'Plan', tags: ['a', 'b'] }])
    expect(await desktop.components.list(ada.id)).toMatchObject([
      { component_id: 'sky', code: 'body{}', metadata: { a: 1 }, version: 1, is_active: true },
    ])
    expect(await files.desktop.text(ada.id, '/Notes/a.txt')).toBe('hello\n')
    expect(await files.facts(ada.id, '/Notes/a.txt')).toMatchObject({ mtime: Date.UTC(2026, 0, 2, 3, 4, 5) / 1_000 })
    expect(await files.facts(ada.id, '/b.bin')).toMatchObject({ sha256: sha256Of(Buffer.from([0, 1, 2])), size: 3 })
    expect(await files.desktop.list(ada.id, '/Empty')).toEqual([])

    const rooms = await chat.rooms(await world.id('bob'))
    expect(rooms.map(({ name, type, participant_count }) => [name, type, participant_count]).sort()).toEqual([
      ['Ada and Bob', 'dm', 2],
      ['Engines', 'channel', 2],
    ])
    const engines = rooms.find(({ name }) => name === 'Engines')!
    const { messages } = await chat.messages(ada.id, { room_id: engines.room_id })
    expect(messages.map(({ username, content }) => [username, content])).toEqual([
      ['ada', 'Good morning'],
      ['bob', 'Hello'],
    ])
    expect(messages[1]!.reply_to).toBe(messages[0]!.message_id)

    const kinds = (await instance.audit.list({ limit: 20 })).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'user.created')).toHaveLength(2)
    expect(kinds[0]).toBe('seed.applied')
  })

  test('puts each thing into the feed once, as new', async () => {
    const world = await makeWorld()
    await world.seed(TEAM)
    const ada = await world.id('ada')
    const { changes, cursor } = await world.local.domain.sync.changesSince(ada, { cursor: 0 }, () =>
      AbortSignal.timeout(1_000),
    )
    expect(changes.map((change) => change.cursor)).toEqual(changes.map((_, index) => index + 1))
    expect(cursor).toBe(changes.length)
    expect(new Set(changes.map(({ operation }) => operation))).toEqual(new Set(['INSERT']))
    const tables = changes.map(({ table }) => table)
    expect(tables.filter((table) => table === 'svc_notes')).toHaveLength(2)
    // Two files, two folders.
    expect(tables.filter((table) => table === 'svc_files')).toHaveLength(4)
  })

  test('changes nothing when it is run again, not even the feed or the audit log', async () => {
    const world = await makeWorld()
    await world.seed(TEAM)
    const before = await stateOf(world, 'ada', 'bob')
    const audit = await world.local.domain.instance.audit.list({ limit: 100 })
    expect(await world.seed(TEAM)).toEqual([`= ${THINGS}`])
    expect(await stateOf(world, 'ada', 'bob')).toEqual(before)
    expect(await world.local.domain.instance.audit.list({ limit: 100 })).toEqual(audit)
  })

  test('is only shown by a plan', async () => {
    const world = await makeWorld()
    const plan = await world.plan(TEAM)
    expect(linesOf(plan)).toHaveLength(THINGS + 1)
    expect(await world.local.domain.accounts.list()).toEqual([])
    expect((await world.local.domain.instance.settings.values()).disabled_apps).toEqual([])
    expect(linesOf(await world.plan(TEAM))).toEqual(linesOf(plan))
  })

  test('follows its own changes where nobody else made any', async () => {
    const world = await makeWorld()
    await world.seed(TEAM)
    const changed = TEAM.replace('title: One', 'title: Uno')
      .replace('"body{}"', '"body{color:red}"')
      .replace('"hello\\n"', '"bonjour\\n"')
      .replace('text: Good morning', 'text: Good evening')
      .replace('name: Clock', 'name: Watch')
      .replace('1GB', '2GB')
      .replace('members: [bob]', 'members: [bob, carol]')
      .replace('rooms:', '  - {username: carol, generate: true}\nrooms:')
    expect(await world.seed(changed)).toEqual([
      '~ setting quota.default: 1GB → 2GB',
      '~ app clock: name',
      '+ user carol',
      '~ row svc_notes/one of ada',
      '~ component sky of ada',
      '~ file /Notes/a.txt of ada',
      '+ carol in room Engines',
      '~ message m1 in room Engines',
      `= ${THINGS - 6}`,
    ])
    const ada = await world.id('ada')
    const { chat, desktop, files } = world.local.domain
    expect(await notesOf(world, ada)).toMatchObject([{ title: 'Uno', pinned: true, version: 2 }, { version: 1 }])
    expect(await desktop.components.list(ada)).toMatchObject([{ version: 2, code: 'body{color:red}' }])
    expect(await files.desktop.text(ada, '/Notes/a.txt')).toBe('bonjour\n')
    const room = (await chat.rooms(await world.id('carol'))).find(({ name }) => name === 'Engines')!
    const { messages } = await chat.messages(await world.id('carol'), { room_id: room.room_id })
    expect(messages.map(({ content }) => content)).toEqual(['Good evening', 'Hello'])
    expect(await world.seed(changed)).toEqual([`= ${THINGS + 2}`])
  })

  test('leaves what people changed or removed, whatever it says by then', async () => {
    const world = await makeWorld()
    await world.seed(TEAM)
    const { accounts, chat, desktop, files, sync } = world.local.domain
    const [ada, bob] = [await author(world, 'ada'), await author(world, 'bob')]
    const [one, two] = (await notesOf(world, ada.id)) as { id: number }[]
    const room = (await chat.rooms(ada.id)).find(({ name }) => name === 'Engines')!.room_id
    const [m1] = (await chat.messages(ada.id, { room_id: room })).messages
    await sync.push(ada.id, {
      operations: [
        { table: 'svc_notes', operation: 'UPDATE', data: { id: one!.id, title: 'Mine' } },
        { table: 'svc_notes', operation: 'DELETE', data: { id: two!.id } },
      ],
    })
    await files.desktop.remove(ada.id, '/b.bin')
    await files.desktop.move(ada.id, '/Notes/a.txt', '/Notes/moved.txt')
    await desktop.components.save(
      { user: ada.id, allowsCode: true },
      { component_id: 'sky', component_type: 'css', code: 'own{}' },
    )
    await chat.edit(ada, { message_id: m1!.message_id, content: 'Good night' })
    await chat.leave(bob, room)
    await accounts.update(ada.id, { display_name: 'Countess' })
    const before = await stateOf(world, 'ada', 'bob')

    expect(await world.seed(TEAM)).toEqual([`= ${THINGS}`])
    expect(await stateOf(world, 'ada', 'bob')).toEqual(before)

    const changed = TEAM.replace('title: One', 'title: Uno')
      .replace('title: Two', 'title: Due')
      .replace('"body{}"', '"body{color:red}"')
      .replace('"hello\\n"', '"bonjour\\n"')
      .replace('base64: AAEC', 'base64: AAECAw==')
      .replace('text: Good morning', 'text: Good evening')
      .replace('text: Hello,', 'text: Hi,')
    expect(await world.seed(changed)).toEqual([
      '! row svc_notes/one of ada: was changed by its owner',
      '! row svc_notes/two of ada: was removed',
      '! component sky of ada: was changed by its owner',
      '! file /Notes/a.txt of ada: was removed',
      '! file /b.bin of ada: was removed',
      '! message m1 in room Engines: was changed by its author',
      '! message m2 in room Engines: bob has left the room',
      `= ${THINGS - 7}`,
    ])
    expect(await stateOf(world, 'ada', 'bob')).toEqual(before)
    expect((await accounts.byName('ada')).display_name).toBe('Countess')
  })

  test('sets what it says of role and quota again, and leaves the rest of an account alone', async () => {
    const world = await makeWorld()
    await world.seed(TEAM)
    const { accounts } = world.local.domain
    const bob = await world.id('bob')
    await accounts.update(bob, { role: 'admin', quota_bytes: 5 })
    expect(await world.seed(TEAM)).toEqual([`= ${THINGS}`])
    expect(await accounts.byName('bob')).toMatchObject({ role: 'admin', quota_bytes: 5 })
    const stricter = TEAM.replace('- username: bob', '- username: bob\n    role: user\n    quota: default')
    expect(await world.seed(stricter)).toEqual([
      '~ role of bob: admin → user',
      '~ quota of bob: 5 B → default',
      `= ${THINGS - 1}`,
    ])
    expect(await accounts.byName('bob')).toMatchObject({ role: 'user', quota_bytes: null })
  })

  test('a room that was removed does not come back', async () => {
    const world = await makeWorld()
    await world.seed(TEAM)
    const { chat } = world.local.domain
    const ada = await author(world, 'ada')
    const room = (await chat.rooms(ada.id)).find(({ name }) => name === 'Engines')!.room_id
    await chat.deleteRoom(ada, room)
    expect((await world.seed(TEAM))[0]).toBe('! room Engines: was removed')
    expect((await chat.rooms(ada.id)).map(({ name }) => name)).toEqual(['Ada and Bob'])
  })

  test('takes over what is there already and equal, and leaves what is there and differs', async () => {
    const world = await makeWorld()
    await world.seed(
      'users: [{username: ada, role: admin, password: analytical engine}, {username: bob, generate: true}]',
    )
    const { chat, desktop, files } = world.local.domain
    const ada = await author(world, 'ada')
    async function* text(content: string) {
      yield await Promise.resolve(Buffer.from(content))
    }
    for (const [path, content] of [
      ['/Notes/a.txt', 'hello\n'],
      ['/b.bin', 'own'],
    ] as const)
      await files.write(ada.id, path, { staged: await files.receive(text(content)) })
    await desktop.components.save(
      { user: ada.id, allowsCode: true },
      { component_id: 'sky', component_type: 'css', code: 'own{}' },
    )
    await chat.createRoom(ada, { name: 'Engines', type: 'channel', participants: [] })
    const lines = await world.seed(TEAM)
    expect(lines.filter((line) => line.startsWith('!'))).toEqual([
      '! component sky of ada: was there before',
      '! file /b.bin of ada: was there before',
    ])
    expect(lines).toContain('+ bob in room Engines')
    expect(lines.some((line) => line.includes('+ room Engines') || line.includes('/Notes/a.txt'))).toBe(false)
    expect(await files.desktop.text(ada.id, '/b.bin')).toBe('own')
    expect((await chat.rooms(ada.id)).filter(({ name }) => name === 'Engines')).toHaveLength(1)
    // What was taken over is the seed's from then on.
    expect(await world.seed(TEAM.replace('"hello\\n"', '"bonjour\\n"'))).toContain('~ file /Notes/a.txt of ada')
  })
})

describe('passwords', () => {
  const login = (world: World, username: string, password: string) =>
    world.local.domain.accounts
      .login({ username, password, device_id: 'laptop-0001', device_name: 'Laptop', ip: '192.0.2.1' })
      .then(
        () => 'ok',
        (error: unknown) => (isFault(error) ? error.code : String(error)),
      )

  test('come as a file, as a hash, made here, or plain', async () => {
    const world = await makeWorld()
    world.write('secrets/ada.txt', 'analytical engine\n')
    const hash = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHRzYWx0$Xa0x5FuTQs1TQoXJI9dvgq4rHGlrm7fX6sQ3MrN4LEw'
    const { hash: hashed } = await import('@node-rs/argon2')
    const real = await hashed('weaving looms', { memoryCost: 256 })
    const seed = `users:
  - {username: ada, password_file: secrets/ada.txt}
  - {username: bob, password_hash: "${real}"}
  - {username: carol, generate: true}
  - {username: dora, password: difference engine}
  - {username: eve, password_hash: "${hash}"}
`
    await world.seed(seed)
    expect(world.made.map(({ username }) => username)).toEqual(['carol'])
    expect(await login(world, 'ada', 'analytical engine')).toBe('ok')
    expect(await login(world, 'bob', 'weaving looms')).toBe('ok')
    expect(await login(world, 'carol', world.made[0]!.secret)).toBe('ok')
    expect(await login(world, 'dora', 'difference engine')).toBe('ok')
    expect(await login(world, 'eve', 'anything')).toBe('invalid_credentials')
    expect((await world.plan(seed)).plainPasswords).toBe(1)
    expect(await world.seed(seed)).toEqual(['= 5'])
    expect(world.made).toHaveLength(1)
  })

  test('stay as they are until they are to be reset', async () => {
    const world = await makeWorld()
    await world.seed('users: [{username: ada, password: analytical engine}]')
    const other = 'users: [{username: ada, password: difference engine}]'
    expect(await world.seed(other)).toEqual(['= 1'])
    expect(await login(world, 'ada', 'analytical engine')).toBe('ok')
    expect(await world.seed(other, { resetPasswords: true })).toEqual(['~ password of ada', '= 0'])
    expect(await login(world, 'ada', 'difference engine')).toBe('ok')
    expect(await login(world, 'ada', 'analytical engine')).toBe('invalid_credentials')
  })

  test('in a file are not asked for once the account is there', async () => {
    const world = await makeWorld()
    world.write('ada.txt', 'analytical engine')
    await world.seed('users: [{username: ada, password_file: ada.txt}]')
    expect(await world.seed('users: [{username: ada, password_file: gone.txt}]')).toEqual(['= 1'])
  })
})

describe('files from beside the seed', () => {
  test('a tree arrives with its folders, contents and times', async () => {
    const world = await makeWorld()
    const large = bytesOf(3 * 1024 * 1024 + 17)
    world.write('tree/a.txt', 'a')
    world.write('tree/deep/er/large.bin', large)
    world.write('tree/deep/.hidden', '')
    const seed =
      'users: [{username: ada, generate: true, files: [{path: /T, from: tree}, {path: /T/more.txt, text: more}]}]'
    const lines = await world.seed(seed)
    expect(lines).toEqual([
      '+ user ada',
      '+ folder /T of ada',
      '+ file /T/a.txt of ada',
      '+ folder /T/deep of ada',
      '+ file /T/deep/.hidden of ada',
      '+ folder /T/deep/er of ada',
      '+ file /T/deep/er/large.bin of ada',
      '+ file /T/more.txt of ada',
      '= 0',
    ])
    const { files } = world.local.domain
    const ada = await world.id('ada')
    expect(await files.facts(ada, '/T/deep/er/large.bin')).toMatchObject({
      sha256: sha256Of(large),
      size: large.length,
    })
    expect(await files.facts(ada, '/T/deep/.hidden')).toMatchObject({ size: 0 })
    expect(await world.seed(seed)).toEqual(['= 8'])
    world.write('tree/a.txt', 'b')
    world.write('tree/new.txt', 'new')
    expect(await world.seed(seed)).toEqual(['~ file /T/a.txt of ada', '+ file /T/new.txt of ada', '= 7'])
    expect(await files.desktop.text(ada, '/T/a.txt')).toBe('b')
  })

  test('the code of a component', async () => {
    const world = await makeWorld()
    world.write('clock.js', 'export const clock = 1')
    const seed = 'users: [{username: ada, generate: true, components: [{id: clock, type: js, from: clock.js}]}]'
    await world.seed(seed)
    const [component] = await world.local.domain.desktop.components.list(await world.id('ada'))
    expect(component).toMatchObject({ component_id: 'clock', code: 'export const clock = 1' })
    world.write('clock.js', 'eval(1)')
    expect((await world.problems(seed))[0]).toMatch(/components\[0\]\.from: blockierter Code$/)
  })
})

describe('a seed that is interrupted or meets another one', () => {
  const BIG = JSON.stringify({
    users: [
      {
        username: 'ada',
        generate: true,
        rows: { svc_notes: several(1_200, (n) => ({ key: `n${n}`, title: `Note ${n}` })) },
        files: several(250, (n) => ({ path: `/f/${n}.txt`, text: `file ${n}` })),
      },
      { username: 'bob', generate: true },
    ],
    rooms: [
      {
        name: 'R',
        creator: 'ada',
        members: ['bob'],
        messages: several(450, (n) => ({ id: `m${n}`, from: 'ada', text: `Message ${n}` })),
      },
    ],
  })
  const expectAll = async (world: World) => {
    const ada = await world.id('ada')
    const { chat, files } = world.local.domain
    const notes = await notesOf(world, ada)
    expect(notes.map(({ title }) => title)).toEqual(Array.from({ length: 1_200 }, (_, n) => `Note ${n}`))
    expect(await files.desktop.list(ada, '/f')).toHaveLength(250)
    const [room, ...others] = await chat.rooms(ada)
    expect(others).toEqual([])
    const said: string[] = []
    for (let before: string | undefined; ;) {
      const page = await chat.messages(ada, { room_id: room!.room_id, limit: 200, ...(before && { before }) })
      said.unshift(...page.messages.map(({ content }) => content))
      if (!page.has_more) break
      before = page.messages[0]!.timestamp
    }
    expect(said).toEqual(Array.from({ length: 450 }, (_, n) => `Message ${n}`))
    expect(await world.seed(BIG)).toEqual([`= ${1_200 + 250 + 450 + 3 + 1}`])
  }

  test.each([1, 3, 700, 1_300, 1_450, 1_700, 1_800])('after %i things: run again, it completes', async (things) => {
    const world = await makeWorld()
    const plan = await world.plan(BIG)
    let done = 0
    const apply = plan.apply({
      done(count) {
        done += count
        if (done >= things) throw new Error('The power is gone.')
      },
    })
    await expect(apply).rejects.toThrow('The power is gone.')
    await world.seed(BIG)
    await expectAll(world)
  })

  test('two at the same moment make everything once', async () => {
    const world = await makeWorld()
    await world.seed('users: [{username: ada, generate: true}, {username: bob, generate: true}]')
    const plans = [await world.plan(BIG), await world.plan(BIG)]
    const outcomes = await Promise.allSettled(plans.map((plan) => plan.apply()))
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true)
    await world.seed(BIG)
    const ada = await world.id('ada')
    expect(await notesOf(world, ada)).toHaveLength(1_200)
    expect(await world.local.domain.files.desktop.list(ada, '/f')).toHaveLength(250)
  })
})

test('the sample seed is sound, and says the same when it is run again', async () => {
  const world = await makeWorld()
  const sample = readFileSync(new URL('../../../templates/sample-seed.yaml', import.meta.url), 'utf8')
  expect(await world.seed(sample)).toHaveLength(15)
  expect((await world.seed(sample)).filter((line) => !line.startsWith('='))).toEqual([])
})

describe('the description of the format', () => {
  const description = readFileSync(new URL('../../../src/docs/seed-format.md', import.meta.url), 'utf8')
  const examples = [...description.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)

  test.each(examples)('has an example that works: %s', async (example) => {
    const world = await makeWorld()
    expect((await world.seed(example)).length).toBeGreaterThan(1)
  })

  test('names every key', () => {
    const keys = new Set<string>()
    JSON.stringify(seedSchema(), (_, value: unknown) => {
      const properties = (value as { properties?: object } | null)?.properties
      if (properties && !Object.keys(properties).some((name) => name === 'title')) {
        for (const name of Object.keys(properties)) keys.add(name)
      }
      return value
    })
    const tables = [...keys].filter((key) => key.startsWith('svc_'))
    const columns = new Set(Object.values(declared).flatMap(({ columns }) => Object.keys(columns)))
    const unnamed = [...keys].filter(
      (key) =>
        !tables.includes(key) &&
        !columns.has(key) &&
        !description.includes(`\`${key}\``) &&
        !description.includes(`\n## ${key}\n`),
    )
    expect(unnamed).toEqual(['version'])
  })
})

test('no column of a table is called as what names a row', () => {
  for (const { columns } of Object.values(declared)) expect(Object.keys(columns)).not.toContain('key')
})

test('many rows and messages are stored in transactions that hold up nobody for long, with time for others in between', async () => {
  const { plan } = await makeWorld()
  const seed = {
    users: [
      {
        username: 'ada',
        password: 'analytical engine',
        rows: { svc_notes: several(1_050, (n) => ({ key: `n${n}`, title: `${n}` })) },
      },
    ],
    rooms: [
      {
        name: 'Engines',
        creator: 'ada',
        members: ['ada'],
        messages: several(1_050, (n) => ({ id: `m${n}`, from: 'ada', text: `${n}` })),
      },
    ],
  }
  const planned = await plan(JSON.stringify(seed))
  const steps: (number | string)[] = []
  await planned.apply({
    done(count) {
      if (count === 1) return
      steps.push(count)
      // As another process, which polls the write lock every 10 ms.
      if (count === 200) setTimeout(() => steps.push('other'), 10)
    },
  })
  const groups = [200, 'other', 200, 'other', 200, 'other', 200, 'other', 200, 'other', 50]
  expect(steps).toEqual([...groups, ...groups])
})
