import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { INLINE_MAX } from '../../src/storage/contents/contents.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { clientOf, type Account, type Client } from '../support/account.ts'
import { accountInFolder } from '../support/account-in-folder.ts'
import { startChild, type Child } from '../support/child.ts'
import { bytesOf, sha256Of, temporaryFilesOf } from '../support/contents.ts'
import { makeRandom, type Random } from '../support/random.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import { temporaryFolder } from '../support/server.ts'

/** How often the server is killed; each time it is in the middle of requests. */
const KILLS = 8
const CLIENTS = 4

/** What one client may rely on: for each path of its own the content that was acknowledged last, and what it tried since. */
interface Memory {
  files: Map<string, { acknowledged: string | undefined; tried: Set<string> }>
  /** Titles of rows by id, as acknowledged. */
  rows: Map<number, string>
  /** Titles of pushes nobody acknowledged. */
  maybe: Set<string>
  acknowledgements: number
}

let dataDir: string
let child: Child | undefined
beforeAll(async () => {
  dataDir = await temporaryFolder()
})
afterAll(async () => {
  await child?.kill()
  await rm(dataDir, { recursive: true, force: true })
})

const later = (ms: number) => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms))

/** Uploads and pushes until the server is gone, and remembers what it was told. */
async function work(index: number, client: Client, memory: Memory, random: Random): Promise<void> {
  for (;;) {
    if (random.below(3) > 0) {
      const path = `/client ${index}/${random.below(4)}.bin`
      const isSmall = random.below(3) > 0
      const content = bytesOf(isSmall ? random.below(3_000) : INLINE_MAX + random.below(400_000), random.below(1e9))
      const known = memory.files.get(path) ?? { acknowledged: undefined, tried: new Set() }
      memory.files.set(path, known)
      const sha256 = sha256Of(content)
      known.tried.add(sha256)
      expect(await client.put(path, content)).toMatchObject({ path, sha256, size: content.length })
      memory.files.set(path, { acknowledged: sha256, tried: new Set() })
    } else {
      const titles = Array.from({ length: 1 + random.below(5) }, () => `client ${index} ${random.below(1e9)}`)
      for (const title of titles) memory.maybe.add(title)
      const operations = titles.map((title) => ({ table: 'svc_notes', operation: 'INSERT', data: { title } }))
      const { results } = await client.push(...operations)
      for (const [at, { id }] of results.entries()) {
        memory.rows.set(id!, titles[at]!)
        memory.maybe.delete(titles[at]!)
      }
    }
    memory.acknowledgements += 1
  }
}

/** Looks at everything through the front door: what was acknowledged is there, and nothing is there in part. */
async function inspect(account: Client, memories: Memory[]): Promise<void> {
  const { files, cursor } = await account.manifest()
  const there = new Map(files.map((file) => [file.path, file]))
  for (const { files: known } of memories) {
    for (const [path, { acknowledged, tried }] of known) {
      const found = there.get(path)?.sha256
      // An upload that was cut off may have been stored all the same, as a whole.
      expect([path, found === acknowledged || (found !== undefined && tried.has(found))]).toEqual([path, true])
      // Which of them it was is settled now.
      if (found !== undefined) known.set(path, { acknowledged: found, tried: new Set() })
    }
  }
  for (const { path, size, sha256 } of files) {
    const { status, bytes } = await account.download(path)
    expect([path, status, bytes.length, sha256Of(bytes)]).toEqual([path, 200, size, sha256])
  }

  const { data, cursor: head } = await account.everything()
  expect(cursor).toBe(head)
  const rows = new Map(data['svc_notes']!.map(({ id, title }) => [id, String(title)]))
  const acknowledged = new Map(memories.flatMap((memory) => [...memory.rows]))
  for (const [id, title] of acknowledged) expect([id, rows.get(id)]).toEqual([id, title])
  const maybe = new Set(memories.flatMap((memory) => [...memory.maybe]))
  for (const [id, title] of rows) if (!acknowledged.has(id)) expect([title, maybe.has(title)]).toEqual([title, true])

  const fromFeed = new Map<string, unknown>()
  for (let at = 0, more = true; more;) {
    const page = await account.delta(at, { limit: 5_000 })
    for (const { table, operation, data: row } of page.changes) {
      expect(operation).toBe('INSERT')
      fromFeed.set(`${table} ${row.id}`, row)
    }
    at = page.cursor
    more = page.has_more
  }
  const expected = Object.entries(data).flatMap(([table, all]) =>
    all.map((row) => [`${table} ${row.id}`, row] as const),
  )
  expect(Object.fromEntries(fromFeed)).toEqual(Object.fromEntries(expected))
}

/** Looks behind it, with the server stopped: the database is sound and the usage is the sum of the files. */
async function inspectStorage(account: Account): Promise<void> {
  const { domain, close } = await openLocal({ dataDir, env: {} })
  const { used } = await domain.files.desktop.quota(account.id)
  await domain.instance.checkDatabase()
  await domain.instance.checkContents()
  await close()
  const database = openSqlite(join(dataDir, 'svc.db'))
  const sizes = await database.read.q
    .selectFrom('nodes')
    .select('size')
    .where('user_id', '=', account.id)
    .where('trash_id', 'is', null)
    .execute()
  await database.close()
  expect(used).toBe(sizes.reduce((sum, { size }) => sum + size, 0))
}

test(`a server that is killed ${KILLS} times in the middle of its work loses nothing it has acknowledged`, async () => {
  const random = makeRandom(20_261_121)
  const memories: Memory[] = Array.from({ length: CLIENTS }, () => ({
    files: new Map(),
    rows: new Map(),
    maybe: new Set(),
    acknowledgements: 0,
  }))
  const done = () => memories.reduce((sum, { acknowledgements }) => sum + acknowledgements, 0)
  child = await startChild('serve', dataDir)
  const account = await accountInFolder(dataDir, child.ready)

  for (let kill = 0; kill < KILLS; kill += 1) {
    const client = clientOf(child.ready, account.token)
    const clients = memories.map((memory, index) => work(index, client, memory, makeRandom(kill * 100 + index)))
    const outcomes = Promise.allSettled(clients)
    // Some work is done first, so that there is something to lose; then the end comes at no particular moment.
    const enough = done() + 10 + random.below(40)
    while (done() < enough && (await Promise.race([outcomes, later(2)])) === undefined);
    await child.kill()
    for (const outcome of await outcomes) {
      // Only the end of the connection may have stopped a client.
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringMatching(/socket hang up|aborted|ECONNREFUSED|ECONNRESET|EPIPE/) as string },
      })
    }
    child = await startChild('serve', dataDir)
    await inspect(clientOf(child.ready, account.token), memories)
  }
  expect(await child.end()).toBe(0)
  child = undefined
  await inspectStorage(account)
  // What the cut-off uploads left behind is bounded by their number, and swept a day later.
  expect((await temporaryFilesOf(dataDir)).length).toBeLessThanOrEqual(KILLS * CLIENTS)
})
