import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { syncAuth } from '../../src/contract/sync-auth.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { teamChat } from '../../src/contract/team-chat.ts'
import { verify } from '../../src/domain/backups/backups.ts'
import { openPostgres } from '../../src/storage/engine/postgres.ts'
import { backupTarget, withInstallation } from '../../src/wiring/backups/backup-locations.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import { moveStorage } from '../../src/wiring/storage-move.ts'
import { drill } from '../../src/wiring/backups/drill.ts'
import { restore } from '../../src/wiring/backups/restore.ts'
import { serve, type RunningServer, type ServeOptions } from '../../src/wiring/server.ts'
import { clientOf, clientWith, makeAccount, type Account } from '../support/account.ts'
import { noPassphrases, placeOfTest, sourceOf } from '../support/backups.ts'
import { channelOf, heard, pollOf, say } from '../support/chat.ts'
import { makeClock } from '../support/clock.ts'
import { bytesOf, filesBelow, sha256Of } from '../support/contents.ts'
import { rowsAndCursorOf } from '../support/everything.ts'
import { modelServerOfTest } from '../support/model-server.ts'
import { cutListening, freshName, listeningAt, programs, startPostgres, type Cluster } from '../support/postgres.ts'
import { s3Environment as keys, s3OfFile } from '../support/s3.ts'
import { folderOfTest, settingsNoticed } from '../support/server.ts'
import { tarOf } from '../support/tar.ts'

const LARGE = 300_000

/** Everything accounts have, to compare two installations. */
async function everythingOf({ accounts, files, sync }: RunningServer['local']['domain']) {
  const users = await accounts.list()
  return Promise.all(
    users.map(async ({ id, username, used_bytes }) => ({
      username,
      used_bytes,
      manifest: JSON.parse(Buffer.concat(await files.manifest(id, 'x', {})).toString()) as object,
      rows: (await rowsAndCursorOf(sync, id)).data,
    })),
  )
}

/** Resolves when so many more requests wait for news on a server. */
function sleepersOf({ local }: RunningServer): (more: number) => Promise<void> {
  const { sync, chat } = local.domain
  const { changesSince } = sync
  const { poll } = chat
  let count = 0
  let wake: () => void = () => undefined
  // What would cut a request off is asked for in the moment in which it falls asleep.
  const watched = (signal: () => AbortSignal) => () => {
    count += 1
    wake()
    return signal()
  }
  sync.changesSince = (user, since, signal) => changesSince(user, since, watched(signal))
  chat.poll = (user, since, signal) => poll(user, since, watched(signal))
  return async (more) => {
    while (count < more) await new Promise<void>((resolve) => (wake = resolve))
    count -= more
  }
}

describe.skipIf(programs === undefined)('servers that share a database and a bucket', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster.stop())
  const s3 = s3OfFile()

  /** An installation that any number of servers can be started on. */
  async function site() {
    const folder = await folderOfTest()
    const keyFile = join(folder, 'secret')
    await writeFile(keyFile, 'ab'.repeat(32), { mode: 0o600 })
    const bucket = await s3.bucket()
    const url = await cluster.database(freshName())
    const shared = { SVC_DATABASE: url, SVC_BLOBS: bucket.address(), SVC_LIMITS: 'off', SVC_PORT: '0', ...keys }
    const env = { ...shared, SVC_SECRET_KEY_FILE: keyFile }
    const clock = makeClock()
    let servers = 0
    const start = async (more: Record<string, string> = {}, options: Pick<ServeOptions, 'checkIntervalMs'> = {}) => {
      const dataDir = join(folder, `server-${++servers}`)
      const server = await serve({ dataDir, env: { ...env, ...more }, clock, log: false, ...options })
      let closing: Promise<void> | undefined
      const close = () => (closing ??= server.close())
      onTestFinished(close)
      return { ...server, close, dataDir }
    }
    const database = await openPostgres(url)
    onTestFinished(() => database.close())
    return { folder, url, env, shared, bucket, clock, start, database }
  }

  /** The same account, as it speaks to another server. */
  const at = (server: RunningServer, account: Account): Account => ({
    ...account,
    ...clientOf(server.url, account.token),
  })

  test('are an installation to every command, also where its data directory holds nothing', async () => {
    const place = await site()
    const { local } = await place.start()
    await local.domain.instance.settings.store('backup.to', place.folder)
    const here = { dataDir: join(place.folder, 'here'), env: place.env }
    const found = await withInstallation(here, async (own) => own?.domain.instance.settings.values())
    expect(found).toMatchObject({ 'backup.to': place.folder })
  })

  test('report every metric that the documentation names', async () => {
    const place = await site()
    const { url } = await place.start({}, {})
    await fetch(`${url}/healthz`)
    const text = await (await fetch(`${url}/metrics`)).text()
    const page = await readFile('src/docs/several-machines.md', 'utf8')
    const named = new Set(page.match(/svc_(?:ready|request|nodejs|database|store|disk|last)_?[a-z0-9_]*/g))
    expect(named.size).toBeGreaterThan(12)
    for (const name of named) expect.soft(text).toContain(`${name}`)
    expect(text).toMatch(/^svc_database_commits_total [1-9]/m)
    expect(text).toMatch(/^svc_store_failures_total 0$/m)
  })

  test('count failed logins together, also those of one moment', async () => {
    const place = await site()
    const servers = [await place.start(), await place.start(), await place.start()]
    await servers[0]!.local.domain.accounts.create({
      username: 'ada',
      password: 'the right one, and long',
      role: 'admin',
    })
    const { login } = syncAuth.actions
    const guess = async ({ url }: RunningServer) => {
      const { json } = await clientWith(url).call(login, { ...login.example, username: 'ada', password: 'not the one' })
      return (json as { code: string }).code
    }
    const codes = await Promise.all(Array.from({ length: 12 }, (_, index) => guess(servers[index % 3]!)))
    expect(codes.sort()).toEqual([
      ...Array<string>(7).fill('account_locked'),
      ...Array<string>(5).fill('invalid_credentials'),
    ])
  })

  test('are one service: what is done on one is there on the other', async () => {
    const place = await site()
    const [one, two] = [await place.start(), await place.start()]
    await makeAccount(
      { url: one.url, database: place.database, clock: place.clock },
      { username: 'root', role: 'admin' },
    )
    const ada = await makeAccount({ url: one.url, database: place.database, clock: place.clock }, { username: 'ada' })
    const adaThere = at(two, ada)

    const [small, large] = [Buffer.from('a small file'), bytesOf(LARGE)]
    await ada.put('/small.txt', small)
    await adaThere.put('/large.bin', large)
    expect((await adaThere.download('/small.txt')).bytes.equals(small)).toBe(true)
    expect((await ada.download('/large.bin')).bytes.equals(large)).toBe(true)
    expect((await ada.manifest()).files).toEqual((await adaThere.manifest()).files)
    // The content is in the bucket, which says whose it is, and in no folder of either.
    expect(await place.bucket.objects()).toEqual([expect.stringContaining(sha256Of(large)), 'installation'])
    for (const { dataDir } of [one, two])
      expect(await filesBelow(dataDir)).toEqual(['external-database.json', 'server.lock'])

    // A request that waits here is answered with what happens there.
    const { cursor } = await ada.everything()
    const waiting = ada.delta(cursor, { wait: 55 })
    await adaThere.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' } })
    expect(await waiting).toMatchObject({ changes: [{ data: { title: 'Tea' } }] })

    // So is a conversation.
    const grace = await makeAccount(
      { url: two.url, database: place.database, clock: place.clock },
      { username: 'grace' },
    )
    const room = await channelOf(ada, grace)
    const { timestamp } = await say(ada, room, 'hello')
    const polled = pollOf(grace, room, timestamp, 55)
    await say(ada, room, 'are you there?')
    expect((await polled).messages.map(({ content }) => content)).toEqual(['are you there?'])
    expect((await heard(ada, room)).map(({ content }) => content)).toEqual(['hello', 'are you there?'])

    // Maintenance and settings hold for both.
    await one.local.domain.instance.maintenance.begin({ message: 'new disks', until: null })
    await settingsNoticed()
    expect((await adaThere.upload('/closed.txt', 'x')).json).toMatchObject({
      code: 'maintenance',
      message: 'new disks',
    })
  })

  test('tell each other what is new, also where nobody looks for it', async () => {
    const place = await site()
    const never = { checkIntervalMs: DAY }
    const [one, two] = [await place.start({}, never), await place.start({}, never)]
    const ground = { url: one.url, database: place.database, clock: place.clock }
    await makeAccount(ground, { username: 'root', role: 'admin' })
    const ada = await makeAccount(ground, { username: 'ada' })
    const grace = await makeAccount(ground, { username: 'grace' })
    const adaThere = at(two, ada)
    const room = await channelOf(ada, grace)
    const asleep = sleepersOf(one)
    expect(await listeningAt(place.url)).toBe(0)

    let { timestamp } = await say(adaThere, room, 'hello')
    const tellNews = async (text: string, before: () => Promise<unknown> = () => Promise.resolve()) => {
      const { cursor } = await ada.everything()
      const [feed, chat] = [ada.delta(cursor, { wait: 55 }), pollOf(grace, room, timestamp, 55)]
      await asleep(2)
      await before()
      await adaThere.push({ table: 'svc_notes', operation: 'INSERT', data: { title: text } })
      expect(await feed).toMatchObject({ changes: [{ data: { title: text } }] })
      ;({ timestamp } = await say(adaThere, room, text))
      expect((await chat).messages.map(({ content }) => content)).toEqual([text])
    }
    await tellNews('of the beginning')
    await tellNews('of later')
    expect(await listeningAt(place.url)).toBe(1)

    // Also what was told while nobody listened, and from then on everything again.
    await tellNews('of a time without a connection', async () => expect(await cutListening(place.url)).toBe(1))
    expect(await listeningAt(place.url)).toBe(1)
    await tellNews('of the time after')

    // A room that is deleted elsewhere has nothing to wait for.
    const refused = grace.call(teamChat.actions.poll, { room_id: room, after: timestamp, wait: 55 })
    await asleep(1)
    await adaThere.ask(teamChat.actions.delete_room, { room_id: room })
    expect((await refused).json['code']).toBe('forbidden')

    // Whose access ends elsewhere waits no longer, and what breaks off is told nothing.
    const { cursor } = await ada.everything()
    const ended = ada.call(syncData.actions.delta, { cursor, wait: 55 })
    await asleep(1)
    await two.local.domain.accounts.revokeAllDevices(ada.id)
    expect((await ended).status).toBe(401)

    for (const server of [one, two]) await server.close()
    await expect.poll(() => listeningAt(place.url)).toBe(0)
  })

  test('tell members of a large room what was said on another one', async () => {
    const place = await site()
    const never = { checkIntervalMs: DAY }
    const [one, two] = [await place.start({}, never), await place.start({}, never)]
    const ground = { url: one.url, database: place.database, clock: place.clock }
    const people: Account[] = []
    for (let index = 0; index < 40; index += 1)
      people.push(await makeAccount(ground, { username: `person-${index}`, role: index === 0 ? 'admin' : 'user' }))
    const room = await channelOf(people[0]!, ...people.slice(1))
    await say(people[0]!, room, 'hello')
    const asleep = sleepersOf(one)
    for (const text of ['one', 'two']) {
      const waiting = await Promise.all(
        people.map(async (person) => ({ page: person.delta((await person.delta(0)).cursor, { wait: 55 }) })),
      )
      await asleep(people.length)
      const { message_id } = await say(at(two, people[1]!), room, text)
      for (const { page } of waiting)
        expect((await page).changes).toMatchObject([{ operation: 'INSERT', data: { id: message_id, content: text } }])
    }
    // Whoever reads on both servers at once gets the same positions.
    const sides = people.flatMap((person) => [person, at(two, person)])
    await Promise.all([say(people[2]!, room, 'three'), say(at(two, people[3]!), room, 'four')])
    const pages = await Promise.all(sides.map((side) => side.delta(0)))
    for (let index = 0; index < pages.length; index += 2) expect(pages[index]).toEqual(pages[index + 1])
    expect(pages[0]!.changes.map(({ data }) => data['content'] ?? data['name'])).toHaveLength(6)
    expect(await one.local.domain.instance.storage.check()).toMatchObject({ problems: [] })
  })

  test('write to every feed of a large room while an older version is connected', async () => {
    const place = await site()
    const one = await place.start()
    const ground = { url: one.url, database: place.database, clock: place.clock }
    const people: Account[] = []
    for (let index = 0; index < 34; index += 1)
      people.push(await makeAccount(ground, { username: `person-${index}`, role: index === 0 ? 'admin' : 'user' }))
    const older = new pg.Client(`${place.url}?application_name=svc%2001234567`)
    await older.connect()
    const room = await channelOf(people[0]!, ...people.slice(1))
    const entries = async () => {
      const { q } = place.database.read
      const found = await q.selectFrom('changes').select('user_id').where('tbl', '=', 'svc_messages').execute()
      return found.length
    }
    await say(people[0]!, room, 'in every feed')
    expect(await entries()).toBe(34)
    await older.end()
    // The server forgets the connection a moment later. This message is the last one that is entered at once.
    await expect
      .poll(async () => {
        await say(people[0]!, room, 'hello')
        const { q } = place.database.read
        return (await q.selectFrom('rooms').select('feed_stamp').executeTakeFirstOrThrow()).feed_stamp
      })
      .not.toBeNull()
    const before = await entries()
    await say(people[0]!, room, 'later')
    expect(await entries()).toBe(before)
    expect((await people[1]!.delta(0)).changes.at(-1)).toMatchObject({ data: { content: 'later' } })
  })

  test('answer a mention of the assistant once, whichever of them hears of the next one', async () => {
    const place = await site()
    const model = await modelServerOfTest()
    const named = {
      SVC_ASSISTANT_BASE_URL: model.url,
      SVC_ASSISTANT_CHAT_MODEL: 'talker',
    }
    const servers = [await place.start(named), await place.start(named), await place.start(named)]
    const ground = { url: servers[0]!.url, database: place.database, clock: place.clock }
    const ada = await makeAccount(ground, { role: 'admin' })
    const room = await channelOf(ada)
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    model.will({ text: 'One.', until: finished }, { text: 'Two.' }, { text: 'Three.' })
    await say(ada, room, '@assistant one')
    await expect.poll(() => model.heard.length).toBe(1)
    for (const [index, name] of ['two', 'three'].entries()) {
      await say(at(servers[index + 1]!, ada), room, `@assistant ${name}`)
      // They look at once, and leave the room to the first.
      await servers[index + 1]!.local.domain.assistant.mentions.idle()
    }
    finish()
    await servers[0]!.local.domain.assistant.mentions.idle()
    expect((await heard(ada, room)).map(({ content }) => content).slice(3)).toEqual(['One.', 'Two.', 'Three.'])
    expect(model.heard).toHaveLength(3)
  })

  test('write at the same moment without losing, doubling or reordering anything', async () => {
    const place = await site()
    const servers = [await place.start(), await place.start()]
    const ada = await makeAccount(
      { url: servers[0]!.url, database: place.database, clock: place.clock },
      { role: 'admin' },
    )
    const sides = servers.map((server) => at(server, ada))
    const work = sides.flatMap((side, which) => [
      ...Array.from(
        { length: 40 },
        (_, index) => () =>
          side.push({ table: 'svc_notes', operation: 'INSERT', data: { title: `${which}-${index}` } }),
      ),
      ...Array.from({ length: 20 }, (_, index) => () => side.put(`/${which}-${index}.txt`, `${which} ${index}`)),
      // Both put the same content, also into the bucket.
      ...Array.from({ length: 4 }, (_, index) => () => side.put(`/${which}-${index}.bin`, bytesOf(LARGE, index))),
      ...Array.from({ length: 10 }, (_, index) => () => side.upload('/same.txt', `from ${which}, ${index}`)),
    ])
    const outcomes = await Promise.all(work.map((one) => one()))
    expect(outcomes).toHaveLength(148)
    const { data } = await sides[0]!.everything()
    expect(data['svc_notes']).toHaveLength(80)
    // Whoever follows the feed sees every position once and in order, on each of them.
    for (const side of sides) {
      const seen: number[] = []
      let cursor = 0
      for (let more = true; more;) {
        const page = await side.delta(cursor, { limit: 17 })
        seen.push(...page.changes.map((change) => change.cursor))
        cursor = page.cursor
        more = page.has_more
      }
      expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
      expect(seen).toHaveLength(80 + 40 + 8 + 1)
    }
    for (const { local } of servers) expect(await local.domain.instance.storage.check()).toMatchObject({ problems: [] })
    const manifests = await Promise.all(sides.map((side) => side.manifest()))
    expect(manifests[0]!.files).toEqual(manifests[1]!.files)
  })

  test('store the same files for many accounts at once, in whatever order they come', async () => {
    const place = await site()
    const servers = [await place.start(), await place.start()]
    const ground = { url: servers[0]!.url, database: place.database, clock: place.clock }
    const files = Array.from({ length: 20 }, (_, index) => ({ name: `${index}.txt`, content: `file ${index}` }))
    const send = (account: Account, ...entries: typeof files) =>
      account.call(
        syncFiles.actions.upload_batch,
        {},
        { headers: { 'content-type': 'application/x-tar' }, body: tarOf(...entries) },
      )
    await send(await makeAccount(ground, { role: 'admin' }), ...files)
    const people = await Promise.all(Array.from({ length: 8 }, () => makeAccount(ground)))
    const replies = await Promise.all(
      people.flatMap((one, index) => [
        send(at(servers[index % 2]!, one), ...files),
        send(at(servers[(index + 1) % 2]!, one), ...files.toReversed()),
      ]),
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    const { rows } = await sql<{ deadlocks: number }>`select deadlocks from pg_stat_database
      where datname = current_database()`.execute(place.database.read.q)
    expect(rows).toEqual([{ deadlocks: 0 }])
  })

  test('go on when one of them is gone, and when the database was', async () => {
    const place = await site()
    const [one, two] = [await place.start(), await place.start()]
    const ada = await makeAccount({ url: one.url, database: place.database, clock: place.clock }, { role: 'admin' })
    await ada.put('/before.txt', 'before')
    await one.close()
    const there = at(two, ada)
    expect((await there.download('/before.txt')).bytes.toString()).toBe('before')
    await cluster.crash()
    const refused = await there.upload('/down.txt', 'down')
    expect([refused.status, refused.json['code']]).toEqual([503, 'busy'])
    const ready = await fetch(`${two.url}/readyz`)
    expect(ready.status).toBe(503)
    await cluster.start()
    await there.put('/after.txt', 'after')
    expect((await there.manifest()).files.map(({ path }) => path).sort()).toEqual(['/after.txt', '/before.txt'])
  })

  test('have to share the secret key', async () => {
    const place = await site()
    await (await place.start()).close()
    const other = join(place.folder, 'other')
    await writeFile(other, 'cd'.repeat(32))
    await expect(place.start({ SVC_SECRET_KEY_FILE: other })).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringMatching(/^The secret key is not the one this database was made with: copy /) as string,
    })
    await expect(place.start({ SVC_SECRET_KEY_FILE: '' })).rejects.toMatchObject({
      message: expect.stringMatching(
        /secret\.key is missing: restore it from a backup, or copy it from another server\.$/,
      ) as string,
    })
    await expect(place.start({ SVC_SECRET_KEY_FILE: '/nowhere' })).rejects.toThrow(
      '/nowhere, which SVC_SECRET_KEY_FILE names, does not exist',
    )
  })

  test('are backed up to the same form as any other, which restores to one machine', async () => {
    const place = await site()
    const one = await place.start()
    const ada = await makeAccount({ url: one.url, database: place.database, clock: place.clock }, { role: 'admin' })
    await ada.put('/small.txt', 'a small file')
    await ada.put('/large.bin', bytesOf(LARGE))
    await ada.push({ table: 'svc_notes', operation: 'INSERT', data: { title: 'Tea' } })
    await writeFile(join(one.dataDir, 'config.json'), JSON.stringify({ database: place.url, port: 9_000 }))
    const repository = join(place.folder, 'repository')
    const target = await backupTarget(one.local, { to: repository, encrypt: false, startsOver: false }, noPassphrases)
    const { manifest } = await one.local.domain.backups.create(target, {})
    const source = await sourceOf(repository)
    expect((await verify(source, [manifest.id], place.folder)).problems).toEqual([])
    expect((await drill(source, manifest.id, place.folder)).problems).toEqual([])

    const dataDir = join(place.folder, 'restored')
    await restore(source, manifest.id, { target: dataDir, keepDevices: true })
    // Its rows and contents are its own, whatever the settings said before.
    expect(JSON.parse(await readFile(join(dataDir, 'config.json'), 'utf8'))).toEqual({ port: 9_000 })
    // The key that they share came along.
    const restored = await openLocal({ dataDir, env: {} })
    onTestFinished(() => restored.close())
    expect(await everythingOf(restored.domain)).toEqual(await everythingOf(one.local.domain))
    expect((await restored.domain.instance.storage.check()).problems).toEqual([])
  })

  test('get what one machine had, which gets it back', async () => {
    const place = await placeOfTest()
    const { dataDir } = place
    const before = await everythingOf(place.local.domain)
    const url = await cluster.database(freshName())
    const bucket = await s3.bucket()
    // While somebody has it open, nothing moves; contents that were copied stay.
    const refused = { exitCode: 6, message: expect.stringMatching(/Stop every server/) as string }
    await expect(moveStorage({ dataDir, env: keys }, url, {})).rejects.toMatchObject(refused)
    await expect(moveStorage({ dataDir, env: keys }, bucket.address(), {})).rejects.toMatchObject(refused)
    const [content, ...others] = await bucket.objects()
    expect(others).toEqual(['installation'])
    // A store that keeps the beginning of an upload that broke off.
    await bucket.write(content!, 'torn')
    await place.close()

    // A variable alone moves nothing, and would show an empty installation.
    const early = { ...keys, SVC_DATABASE: url }
    await expect(openLocal({ dataDir, env: early })).rejects.toThrow(
      /has no accounts, and there are rows in .*: move them with/,
    )
    expect(await moveStorage({ dataDir, env: early }, url, {})).toMatchObject({ what: 'rows', variable: undefined })
    expect(await moveStorage({ dataDir, env: keys }, bucket.address(), {})).toMatchObject({
      contents: 1,
      variable: undefined,
    })
    const read = async () => JSON.parse(await readFile(join(dataDir, 'config.json'), 'utf8')) as unknown
    expect(await read()).toEqual({ database: url, blobs: bucket.address() })
    expect((await readdir(dataDir)).filter((name) => name.startsWith('svc.db'))).toEqual([
      expect.stringMatching(/^svc\.db\.moved-\d{14}$/),
    ])
    const look = async () => {
      const local = await openLocal({ dataDir, env: keys })
      try {
        expect((await local.domain.instance.storage.check()).problems).toEqual([])
        return await everythingOf(local.domain)
      } finally {
        await local.close()
      }
    }
    expect(await look()).toEqual(before)
    await expect(moveStorage({ dataDir, env: keys }, url, {})).rejects.toMatchObject({ exitCode: 6 })

    // Back, into a folder that has lost its contents.
    expect(await moveStorage({ dataDir, env: keys }, 'sqlite:', {})).toMatchObject({ what: 'rows' })
    expect(await moveStorage({ dataDir, env: keys }, 'disk:', {})).toMatchObject({ what: 'contents' })
    expect(await read()).toEqual({})
    expect((await stat(join(dataDir, 'svc.db'))).mode & 0o777).toBe(0o600)
    expect(await look()).toEqual(before)
    await expect(moveStorage({ dataDir, env: keys }, 'nowhere', {})).rejects.toMatchObject({ exitCode: 2 })
    // A database that holds something is never written over.
    await expect(moveStorage({ dataDir, env: keys }, url, {})).rejects.toMatchObject({ name: 'NotEmpty', exitCode: 6 })
    expect(await look()).toEqual(before)
  })
})
