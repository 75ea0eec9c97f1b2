import { describe, expect, onTestFinished, test } from 'vitest'
import { insertApp } from '../../../src/storage/desktop/apps.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import { migrate } from '../../../src/storage/engine/migrations/migrate.ts'
import { options } from '../../../src/domain/instance/instance.ts'
import { openLocal, type Local } from '../../../src/wiring/local-domain.ts'
import { seedSystemApps } from '../../../src/domain/desktop/desktop.ts'
import { makeClock } from '../../support/clock.ts'
import { folderOfTest } from '../../support/server.ts'

async function local(dataDir: string): Promise<Local> {
  const opened = await openLocal({ dataDir, env: {}, clock: makeClock() })
  onTestFinished(() => opened.close())
  return opened
}

async function emptyDatabase() {
  const database = openSqlite(`${await folderOfTest()}/svc.db`)
  onTestFinished(() => database.close())
  await migrate(database)
  return database
}

test('what a user made goes with the user, and nothing else', async () => {
  const folder = await folderOfTest()
  const { domain } = await local(folder)
  const { accounts, desktop } = domain
  const [ada, grace] = [
    await accounts.create({ username: 'ada', password: 'analytical engine', role: 'admin' }),
    await accounts.create({ username: 'grace', password: 'nanoseconds matter' }),
  ]
  const from = { ip: '127.0.0.1', userAgent: 'test' }
  for (const { id, username } of [ada, grace]) {
    await desktop.components.save(
      { user: id, allowsCode: true },
      { component_id: 'clock', component_type: 'css', code: username },
    )
    await desktop.profiles.save(id, 'Evening')
    await desktop.apps.createCustom(id, { name: 'Clock', slug: `clock-of-${username}` }, from)
  }
  const system = await desktop.apps.list({ id: grace.id, role: 'user' })
  await accounts.remove(grace.id)

  const database = openSqlite(`${folder}/svc.db`)
  onTestFinished(() => database.close())
  const { q } = database.read
  expect(await q.selectFrom('components').select('user_id').execute()).toEqual([{ user_id: ada.id }])
  expect(await q.selectFrom('component_profiles').select('user_id').execute()).toEqual([{ user_id: ada.id }])
  expect(await q.selectFrom('profile_components').select('code').execute()).toEqual([{ code: 'ada' }])
  const left = await desktop.apps.list({ id: grace.id, role: 'user' })
  expect(left).toEqual(system.filter(({ slug }) => slug !== 'clock-of-grace'))
  expect(await desktop.apps.list({ id: ada.id, role: 'user' })).toHaveLength(system.length)
})

describe('the apps of the desktop', () => {
  const slugsIn = async (database: ReturnType<typeof openSqlite>) =>
    (await database.read.q.selectFrom('apps').select(['id', 'slug', 'updated_at']).orderBy('id').execute()).map(
      ({ id, slug, updated_at }) => `${id} ${slug} ${updated_at}`,
    )

  test('are registered once, however often', async () => {
    const database = await emptyDatabase()
    await database.write('instance', (tx) => seedSystemApps(tx, 1))
    const before = await slugsIn(database)
    expect(before).toHaveLength(16)
    await Promise.all([2, 3].map((now) => database.write('instance', (tx) => seedSystemApps(tx, now))))
    expect(await slugsIn(database)).toEqual(before)
  })

  test('leave alone what has the slug of one', async () => {
    const database = await emptyDatabase()
    const app = {
      slug: 'notes',
      name: 'My notes',
      description: '',
      icon_url: '',
      app_path: '/apps/notes/index.html',
      category: 'custom',
      supports_context: 0,
      is_system: 1,
      admin_only: 0,
      created_by: null,
    }
    const id = await database.write('instance', (tx) => insertApp(tx, app, 1))
    await database.write('instance', (tx) => seedSystemApps(tx, 2))
    const row = await database.read.q.selectFrom('apps').selectAll().where('slug', '=', 'notes').execute()
    expect(row).toEqual([{ ...app, id, created_at: 1, updated_at: 1 }])
    expect(await slugsIn(database)).toHaveLength(16)
  })
})

test('the database itself allows one active version of a component, and each number once', async () => {
  const database = await emptyDatabase()
  const user = await database.write('instance', (tx) =>
    tx.q
      .insertInto('users')
      .values({
        username: 'ada',
        display_name: 'Ada',
        avatar_color: '#336699',
        role: 'user',
        password_hash: '-',
        quota_bytes: null,
        disabled_at: null,
        last_login_at: null,
        created_at: 1,
        updated_at: 1,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  const insert = (version: number, is_active: number) =>
    database.write('instance', (tx) =>
      tx.q
        .insertInto('components')
        .values({
          user_id: user.id,
          component_id: 'clock',
          component_type: 'css',
          code: '',
          version,
          is_active,
          metadata: '{}',
          updated_at: 1,
        })
        .execute(),
    )
  await insert(1, 1)
  await expect(insert(2, 1)).rejects.toThrow(/unique/i)
  await expect(insert(1, 0)).rejects.toThrow(/unique/i)
  await insert(2, 0)
})

describe('the setting', () => {
  const { disabled_apps, 'apps.allowed_origins': origins } = options

  test('disabled_apps is a list of slugs', () => {
    expect(disabled_apps.kind.parse(' chat, my-clock ,')).toEqual(['chat', 'my-clock'])
    expect(disabled_apps.kind.parse('')).toEqual([])
    for (const wrong of ['Chat', '../x', 'a b', '*', '-a', 'x'.repeat(64)])
      expect(() => disabled_apps.kind.parse(wrong)).toThrow(/slugs/)
  })

  test('apps.allowed_origins is a list of https origins and nothing looser', () => {
    const good = ['https://apps.example', 'https://a-b.example:8443', 'https://[::1]:8443', 'https://10.0.0.1']
    expect(origins.kind.parse(good.join(', '))).toEqual(good)
    for (const wrong of [
      '*',
      'https://*',
      'https://*.example',
      'https://',
      'http://apps.example',
      'apps.example',
      'https://apps.example/',
      'https://apps.example/x',
      'https://ada@apps.example',
      'https://apps.example?x',
      'https://apps.example#x',
      'https://apps example',
      'https://apps.example\\x',
      "https://apps.example; script-src 'unsafe-inline'",
      'javascript:alert(1)',
    ])
      expect(() => origins.kind.parse(wrong)).toThrow(/https origins/)
  })
})
