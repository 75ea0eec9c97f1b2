import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { DAY, MINUTE } from '../../../src/base/clock.ts'
import { planPruning, verify } from '../../../src/domain/backups/backups.ts'
import { ownIdentity } from '../../../src/host/process-identity.ts'
import { openPool } from '../../../src/storage/backups/object-pool.ts'
import { collectorIsHeld, holdCollector } from '../../../src/storage/contents/collector-holds.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'
import type { RepositoryHeader } from '../../../src/storage/backups/repository.ts'
import { backupFolder, backupNamed, backupTarget } from '../../../src/wiring/backups/backup-locations.ts'
import { drill } from '../../../src/wiring/backups/drill.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { planRemoval } from '../../../src/wiring/backups/pruning.ts'
import { restore } from '../../../src/wiring/backups/restore.ts'
import { contentsBelow, LARGE, noPassphrases, objectAt, placeOfTest, sourceOf } from '../../support/backups.ts'
import { blobsOf, bytesOf, sha256Of } from '../../support/contents.ts'
import { rowsAndCursorOf } from '../../support/everything.ts'
import { folderOfTest } from '../../support/server.ts'
import { smallDisk } from '../../support/small-disk.ts'

const keepNothing = { last: 0, daily: 0, weekly: 0, monthly: 0 }

const problemsOf = async (repository: string) => {
  const source = await sourceOf(repository)
  return (await verify(source, await source.ids(), await folderOfTest())).problems
}

/** Everything an installation says about itself, to compare two. */
async function everythingIn(dataDir: string) {
  const local = await openLocal({ dataDir, env: {} })
  try {
    const { accounts, files, sync } = local.domain
    const users = await accounts.list()
    return await Promise.all(
      users.map(async ({ id, username, used_bytes }) => ({
        username,
        used_bytes,
        manifest: JSON.parse(Buffer.concat(await files.manifest(id, 'x', {})).toString()) as object,
        rows: (await rowsAndCursorOf(sync, id)).data,
      })),
    )
  } finally {
    await local.close()
  }
}

async function identityOf(dataDir: string) {
  const local = await openLocal({ dataDir, env: {} })
  const { identity, audit } = local.domain.instance
  const entries = await audit.list({ limit: 5 })
  await local.close()
  return { ...identity, last: entries[0] }
}

const count = async (dataDir: string, table: 'sessions' | 'device_tokens' | 'pending_logins' | 'collector_holds') => {
  const database = openSqlite(join(dataDir, 'svc.db'))
  const rows = await database.read.q.selectFrom(table).selectAll().execute()
  await database.close()
  return rows.length
}

describe.each(['repo', 'svc.tar'])('a backup in %s', (name) => {
  test('restores to what was there, with an epoch of its own', async () => {
    const place = await placeOfTest()
    await writeFile(join(place.dataDir, 'config.json'), '{"port": 9000}\n')
    const { manifest } = await place.backUp(name)
    await place.close()
    const target = join(place.folder, 'new')
    const { epoch } = await restore(await sourceOf(join(place.folder, name)), manifest.id, {
      target,
      keepDevices: false,
    })
    expect(await everythingIn(target)).toEqual(await everythingIn(place.dataDir))
    expect(await blobsOf(target)).toEqual(await blobsOf(place.dataDir))
    for (const file of ['config.json', 'keys/secret.key'])
      expect(await readFile(join(target, file), 'utf8')).toBe(await readFile(join(place.dataDir, file), 'utf8'))
    const [before, after] = [await identityOf(place.dataDir), await identityOf(target)]
    expect([after.server_id, after.epoch]).toEqual([before.server_id, epoch])
    expect(after.epoch).not.toBe(before.epoch)
    expect(after.last).toMatchObject({ kind: 'backup.restored' })
  })

  test('is for its owner alone, and so is what is restored', async () => {
    const place = await placeOfTest()
    const { manifest } = await place.backUp(name)
    const target = join(place.folder, 'new')
    await restore(await sourceOf(join(place.folder, name)), manifest.id, { target, keepDevices: false })
    for (const path of [join(place.folder, name), target, join(target, 'svc.db'), join(target, 'keys/secret.key')])
      expect((await stat(path)).mode & 0o077, path).toBe(0)
  })
})

test('nobody stays signed in, and devices only when they are asked to', async () => {
  const place = await placeOfTest()
  const { accounts } = place.local.domain
  const at = { device_id: 'laptop-0001', device_name: 'Laptop', ip: '192.0.2.7' }
  await accounts.login({ username: 'ada', password: 'analytical engine', ...at })
  const database = openSqlite(join(place.dataDir, 'svc.db'))
  const { id } = await accounts.byName('ada')
  const from = { ip: '192.0.2.7', userAgent: 'Browser' }
  await database.write('instance', (tx) => accounts.sessions.begin(tx, id, from))
  await database.close()
  expect([await count(place.dataDir, 'sessions'), await count(place.dataDir, 'device_tokens')]).toEqual([1, 1])

  const { manifest } = await place.backUp('repo')
  expect(manifest.rows).toMatchObject({ sessions: 0, device_tokens: 1, collector_holds: 0 })
  const source = await sourceOf(join(place.folder, 'repo'))
  const [out, kept] = [join(place.folder, 'out'), join(place.folder, 'kept')]
  expect(await restore(source, manifest.id, { target: out, keepDevices: false })).toMatchObject({ devices: 1 })
  expect(await restore(source, manifest.id, { target: kept, keepDevices: true })).toMatchObject({ devices: 0 })
  expect([await count(out, 'sessions'), await count(out, 'device_tokens')]).toEqual([0, 0])
  expect([await count(kept, 'sessions'), await count(kept, 'device_tokens')]).toEqual([0, 1])
})

describe('a folder of backups', () => {
  test('gets only what is new', async () => {
    const place = await placeOfTest()
    const first = await place.backUp('repo')
    expect(first.manifest.added).toEqual({ objects: first.manifest.totals.objects, bytes: first.manifest.totals.bytes })
    const second = await place.backUp('repo')
    expect(second.manifest.added.bytes).toBeLessThanOrEqual(2 * 256 * 1024)
    await place.put('/more.bin', bytesOf(LARGE, 2))
    const third = await place.backUp('repo')
    expect(third.manifest.added.bytes).toBeGreaterThanOrEqual(LARGE)
    expect(third.manifest.added.bytes).toBeLessThanOrEqual(LARGE + 3 * 256 * 1024)
    const source = await sourceOf(join(place.folder, 'repo'))
    expect(await source.ids()).toEqual([first, second, third].map(({ manifest }) => manifest.id))
    expect(await backupNamed(source, 'latest')).toBe(third.manifest.id)
    expect(await problemsOf(join(place.folder, 'repo'))).toEqual([])
  })

  test('mends an object that was cut off', async () => {
    const place = await placeOfTest()
    await place.backUp('repo')
    const path = objectAt(join(place.folder, 'repo'), sha256Of(bytesOf(LARGE)))
    await writeFile(path, 'short')
    expect(await problemsOf(join(place.folder, 'repo'))).toHaveLength(1)
    await place.backUp('repo')
    expect(await problemsOf(join(place.folder, 'repo'))).toEqual([])
  })

  test('keeps what was stored when a backup is interrupted, and shows nothing of it', async () => {
    const place = await placeOfTest()
    const stop = new AbortController()
    stop.abort(new Error('Stopped.'))
    await expect(place.backUp('repo', { signal: stop.signal })).rejects.toThrow('Stopped.')
    const repository = join(place.folder, 'repo')
    expect(await readdir(join(repository, 'locks'))).toEqual([])
    expect(await count(place.dataDir, 'collector_holds')).toBe(0)
    expect(await readdir(join(place.dataDir, 'tmp'))).toEqual([])
    // Whoever stopped it knows.
    expect(await place.local.domain.backups.lastFailure()).toBeUndefined()
    const { manifest } = await place.backUp('repo')
    expect(await (await sourceOf(repository)).ids()).toEqual([manifest.id])
    expect(await problemsOf(repository)).toEqual([])
  })

  test('takes several at the same moment, also as its first', async () => {
    const place = await placeOfTest()
    await Promise.all([place.backUp('repo'), place.backUp('repo'), place.backUp('repo')])
    await Promise.all([place.backUp('repo'), place.backUp('repo')])
    const source = await sourceOf(join(place.folder, 'repo'))
    expect(new Set(await source.ids()).size).toBe(5)
    expect(await problemsOf(join(place.folder, 'repo'))).toEqual([])
  })

  test('belongs to one server', async () => {
    const [place, other] = [await placeOfTest(), await placeOfTest()]
    await place.backUp('repo')
    const wish = { to: join(place.folder, 'repo'), encrypt: false, startsOver: false }
    await expect(backupTarget(other.local, wish, noPassphrases)).rejects.toMatchObject({ exitCode: 8 })
  })

  test('that is gone is not begun anew unless asked for', async () => {
    const place = await placeOfTest()
    await place.backUp('repo')
    await rm(join(place.folder, 'repo'), { recursive: true })
    await mkdir(join(place.folder, 'repo'))
    await expect(place.backUp('repo')).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringContaining('mounted'),
    })
    expect(await readdir(join(place.folder, 'repo'))).toEqual([])
    await place.backUp('repo', { anew: true })
    expect(await problemsOf(join(place.folder, 'repo'))).toEqual([])
  })

  test('names nothing and shows nothing when it is encrypted', async () => {
    const place = await placeOfTest()
    const marked = Buffer.concat([Buffer.from('a plain mark '), bytesOf(LARGE)])
    const sha256 = await place.put('/marked.bin', marked)
    const passphrases = { ...noPassphrases, chosen: () => Promise.resolve('difference engine'), work: 4 }
    const repository = join(place.folder, 'repo')
    const wish = { to: repository, encrypt: true, startsOver: false }
    const first = await place.local.domain.backups.create(await backupTarget(place.local, wish, passphrases))
    // The key is kept: nobody is asked again.
    const again = await backupTarget(place.local, { ...wish, encrypt: false }, noPassphrases)
    const second = await place.local.domain.backups.create(again)
    expect(second.manifest.added.bytes).toBeLessThanOrEqual(2 * 256 * 1024)

    const all = await contentsBelow(repository)
    expect(Object.keys(all).filter((path) => path.includes(sha256))).toEqual([])
    for (const path of Object.keys(all)) {
      const bytes = await readFile(join(repository, path))
      for (const mark of ['a plain mark', 'a small file', 'analytical', 'svc_notes', 'Milk'])
        expect([path, bytes.includes(mark)]).toEqual([path, false])
    }

    const seeking = { from: repository, dataDir: join(place.folder, 'elsewhere'), env: {} }
    await expect(backupFolder(seeking, noPassphrases)).rejects.toThrow('A passphrase was asked for.')
    const wrong = { ...noPassphrases, known: () => Promise.resolve('another engine') }
    await expect(backupFolder(seeking, wrong)).rejects.toMatchObject({ exitCode: 4 })
    const { header, key } = await backupFolder(seeking, {
      ...noPassphrases,
      known: () => Promise.resolve('difference engine'),
    })
    const { readRepository } = await import('../../../src/storage/backups/repository.ts')
    const source = readRepository(repository, header, key)
    expect((await verify(source, await source.ids(), await folderOfTest())).problems).toEqual([])
    const target = join(place.folder, 'new')
    await restore(source, first.manifest.id, { target, keepDevices: false })
    await place.close()
    expect(await everythingIn(target)).toEqual(await everythingIn(place.dataDir))
  })
})

test('a content that the blob store has lost is named, and costs nothing else', async () => {
  const place = await placeOfTest()
  const sha256 = await place.put('/lost.bin', bytesOf(LARGE, 3))
  await rm(join(place.dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256))
  for (const name of ['repo', 'svc.tar']) {
    const { manifest } = await place.backUp(name)
    expect(manifest.missing).toEqual([sha256])
    expect(await problemsOf(join(place.folder, name))).toEqual([])
    const target = join(place.folder, `${name}-restored`)
    await restore(await sourceOf(join(place.folder, name)), manifest.id, { target, keepDevices: false })
    expect(await blobsOf(target)).toEqual([sha256Of(bytesOf(LARGE))])
  }
})

describe('the collector', () => {
  test('waits while somebody holds it, until the hold is over', async () => {
    const place = await placeOfTest()
    const database = openSqlite(join(place.dataDir, 'svc.db'))
    onTestFinished(() => database.close())
    const hold = await holdCollector(database)
    expect(await collectorIsHeld(database.read)).toBe(true)
    const now = Date.now()
    const clock = vi.spyOn(Date, 'now')
    onTestFinished(() => clock.mockRestore())
    clock.mockReturnValue(now + 9 * MINUTE)
    expect(await collectorIsHeld(database.read)).toBe(true)
    await hold.renew()
    clock.mockReturnValue(now + 18 * MINUTE)
    expect(await collectorIsHeld(database.read)).toBe(true)
    // Whoever held it was killed.
    clock.mockReturnValue(now + 20 * MINUTE)
    expect(await collectorIsHeld(database.read)).toBe(false)
    await (await holdCollector(database)).release()
    expect(await count(place.dataDir, 'collector_holds')).toBe(0)
  })

  test('takes nothing that a backup is about to copy', async () => {
    const place = await placeOfTest()
    const sha256 = await place.put('/gone.bin', bytesOf(LARGE, 4))
    const { domain } = place.local
    const { id } = await domain.accounts.byName('ada')
    await domain.files.remove(id, '/gone.bin', {})
    const database = openSqlite(join(place.dataDir, 'svc.db'))
    onTestFinished(() => database.close())
    const hold = await holdCollector(database)
    const now = Date.now()
    const { makeContents } = await import('../../../src/storage/contents/contents.ts')
    const { openDisk } = await import('../../../src/storage/contents/blobs/disk.ts')
    const contents = makeContents(database, await openDisk(join(place.dataDir, 'blobs')))
    await database.write('instance', (tx) => tx.q.deleteFrom('nodes').where('sha256', '=', sha256).execute())
    await database.write('instance', (tx) => tx.q.updateTable('contents').set({ touched_at: 0 }).execute())
    expect(await contents.collect(now - 2 * DAY)).toEqual({ contents: 0, bytes: 0 })
    await hold.release()
    expect(await contents.collect(now - 2 * DAY)).toEqual({ contents: 1, bytes: LARGE })
  })
})

describe('removing old backups', () => {
  const open = (place: { folder: string; dataDir: string }) =>
    backupFolder({ from: join(place.folder, 'repo'), dataDir: place.dataDir, env: {} }, noPassphrases)

  test('removes what only they had, and nothing else', async () => {
    const place = await placeOfTest()
    const { domain } = place.local
    const sha256 = await place.put('/old.bin', bytesOf(LARGE, 5))
    const first = await place.backUp('repo')
    const { id } = await domain.accounts.byName('ada')
    const database = openSqlite(join(place.dataDir, 'svc.db'))
    await database.write('instance', async (tx) => {
      await tx.q.deleteFrom('nodes').where('sha256', '=', sha256).execute()
      await tx.q.deleteFrom('contents').where('sha256', '=', sha256).execute()
      await tx.q
        .updateTable('counters')
        .set({ used_bytes: LARGE + 12 })
        .where('user_id', '=', id)
        .execute()
    })
    await database.close()
    const second = await place.backUp('repo')
    const repository = join(place.folder, 'repo')
    await writeFile(join(repository, 'tmp', 'left-1'), 'by a run that was killed')

    const pruning = await planRemoval(await open(place), keepNothing)
    expect(pruning.decisions.map(({ id: backup, reasons }) => [backup, reasons])).toEqual([
      [second.manifest.id, ['last']],
      [first.manifest.id, []],
    ])
    await expect(stat(objectAt(repository, sha256))).resolves.toBeTruthy()
    await pruning.execute()
    expect(await (await sourceOf(repository)).ids()).toEqual([second.manifest.id])
    await expect(stat(objectAt(repository, sha256))).rejects.toThrow('ENOENT')
    expect(await readdir(join(repository, 'tmp'))).toEqual([])
    expect(await problemsOf(repository)).toEqual([])
  })

  test('takes no lock before it removes something, and spares what was stored after it was planned', async () => {
    const place = await placeOfTest()
    const old = await place.backUp('repo')
    const repository = join(place.folder, 'repo')
    // An object that nothing needs yet.
    const bytes = bytesOf(LARGE, 9)
    const sha256 = sha256Of(bytes)
    await mkdir(dirname(objectAt(repository, sha256)), { recursive: true })
    await writeFile(objectAt(repository, sha256), bytes)
    const pruning = await planRemoval(await open(place), keepNothing)
    expect(pruning.objects).toBe(1)
    await place.put('/new.bin', bytes)
    const { manifest } = await place.backUp('repo')
    await pruning.execute()
    expect(await (await sourceOf(repository)).ids()).toEqual([old.manifest.id, manifest.id])
    expect(await problemsOf(repository)).toEqual([])
  })

  test('finds no damage in a backup that another process removes meanwhile', async () => {
    const place = await placeOfTest()
    const gone = await place.backUp('repo')
    await place.put('/new.bin', bytesOf(LARGE, 9))
    const { manifest } = await place.backUp('repo')
    const source = await sourceOf(join(place.folder, 'repo'))
    const ids = await source.ids()
    await rm(join(place.folder, 'repo', 'snapshots', `${gone.manifest.id}.json`))
    const stale = { ...source, ids: vi.fn<typeof source.ids>(source.ids).mockResolvedValueOnce(ids) }
    const options = { keep: { ...keepNothing, last: 2 }, now: Date.now(), stream: { objects: [], damaged: [] } }
    const plan = await planPruning(openPool(join(place.folder, 'repo'), undefined), stale, options)
    expect([plan.damaged, plan.decisions]).toEqual([[], [{ id: manifest.id, reasons: ['last'] }]])
  })

  test('and making one exclude each other', async () => {
    const place = await placeOfTest()
    await place.backUp('repo')
    const { addToRepository, ownRepository } = await import('../../../src/storage/backups/repository.ts')
    const { folder, header, key } = await open(place)
    const pruning = await planRemoval({ folder, header, key }, keepNothing)
    const own = await ownRepository(folder, header, key)
    await expect(place.backUp('repo')).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining('svc backup prune'),
    })
    await expect(pruning.execute()).rejects.toMatchObject({ exitCode: 6 })
    await own.release()

    const sink = await addToRepository(folder, header as RepositoryHeader, key, {} as never)
    await expect(pruning.execute()).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining('svc backup create'),
    })
    await sink.close()
    await pruning.execute()
  })

  test('does not wait for the dead', async () => {
    const place = await placeOfTest()
    await place.backUp('repo')
    const locks = join(place.folder, 'repo', 'locks')
    const pid = Number(execFileSync('sh', ['-c', 'echo $$']).toString())
    const dead = { kind: 'exclusive', purpose: 'x', ...ownIdentity(), pid }
    await writeFile(join(locks, 'dead'), JSON.stringify(dead))
    await place.backUp('repo')
    expect(await readdir(locks)).toEqual([])
    const { scope: _, ...unscoped } = dead
    for (const unknown of [{ ...dead, host: 'elsewhere', scope: 'x' }, { ...dead, scope: 'a container' }, unscoped]) {
      const lock = join(locks, 'unknown')
      await writeFile(lock, JSON.stringify(unknown))
      await expect(place.backUp('repo')).rejects.toThrow(`process ${pid} on ${unknown.host}`)
      const before = Date.now() / 1_000 - 11 * 60
      await utimes(lock, before, before)
      await place.backUp('repo')
    }
  })

  test('removes nothing while a manifest that stays cannot be read', async () => {
    const place = await placeOfTest()
    const { manifest } = await place.backUp('repo')
    await place.backUp('repo')
    const repository = join(place.folder, 'repo')
    await writeFile(join(repository, 'snapshots', `${manifest.id}.json`), '{')
    const before = await contentsBelow(repository)
    const pruning = await planRemoval(await open(place), { ...keepNothing, last: 2 })
    expect(pruning).toMatchObject({ objects: 0, damaged: [{ id: manifest.id }] })
    await pruning.execute()
    expect(await contentsBelow(repository)).toEqual(before)
  })
})

describe('restoring', () => {
  async function prepared() {
    const place = await placeOfTest()
    const { manifest } = await place.backUp('repo')
    const source = await sourceOf(join(place.folder, 'repo'))
    const to = (target: string) => restore(source, manifest.id, { target, keepDevices: false })
    return { ...place, id: manifest.id, source, to }
  }

  test('takes an empty folder, and no other', async () => {
    const { folder, dataDir, to } = await prepared()
    const target = join(folder, 'new')
    await mkdir(target)
    await to(target)
    const before = await contentsBelow(target)
    await expect(to(target)).rejects.toMatchObject({ exitCode: 6 })
    expect(await contentsBelow(target)).toEqual(before)
    // A server works there.
    await expect(to(dataDir)).rejects.toMatchObject({ exitCode: 6 })
    await writeFile(join(folder, 'file'), 'x')
    await expect(to(join(folder, 'file'))).rejects.toMatchObject({ exitCode: 6 })
    expect((await readdir(folder)).sort()).toEqual(['data', 'file', 'new', 'repo'])
  })

  test('twice at the same moment leaves one whole result', async () => {
    const { folder, to } = await prepared()
    const target = join(folder, 'new')
    const outcomes = await Promise.allSettled([to(target), to(target), to(target)])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ exitCode: 6 })
    expect((await readdir(folder)).sort()).toEqual(['data', 'new', 'repo'])
    expect(await everythingIn(target)).toHaveLength(1)
  })

  test('goes into a disk of its own, and clears what a killed attempt left there', async (context) => {
    const disk = await smallDisk(128 << 20)
    if ('reason' in disk) return context.skip(disk.reason)
    const { to } = await prepared()
    const dead = Number(execFileSync('sh', ['-c', 'echo $$']).toString())
    await mkdir(join(disk.folder, `.restore-${dead}-abcd`))
    await mkdir(join(disk.folder, 'blobs'))
    await to(disk.folder)
    expect((await readdir(disk.folder)).sort()).toEqual(['blobs', 'keys', 'svc.db'])
    expect(await everythingIn(disk.folder)).toHaveLength(1)
  })

  test('to a disk without room says so before it begins', async (context) => {
    const disk = await smallDisk(8 << 20)
    if ('reason' in disk) return context.skip(disk.reason)
    const { to } = await prepared()
    await expect(to(join(disk.folder, 'new'))).rejects.toThrow(/This needs .* and .* has .* left/)
    expect(await readdir(disk.folder)).toEqual([])
  })

  test('to a disk that is only read changes nothing', async (context) => {
    const disk = await smallDisk(8 << 20)
    if ('reason' in disk) return context.skip(disk.reason)
    await disk.freeze()
    const { to } = await prepared()
    await expect(to(join(disk.folder, 'new'))).rejects.toThrow('EROFS')
    await expect(to(disk.folder)).rejects.toThrow('EROFS')
  })
})

test('a full disk ends a backup and leaves the folder as good as it was', async (context) => {
  const disk = await smallDisk(4 << 20)
  if ('reason' in disk) return context.skip(disk.reason)
  const place = await placeOfTest()
  const repository = join(disk.folder, 'repo')
  const create = async () => {
    const target = await backupTarget(place.local, { to: repository, encrypt: false, startsOver: false }, noPassphrases)
    return place.local.domain.backups.create(target)
  }
  const first = await create()
  await place.put('/huge.bin', bytesOf(6 << 20))
  await expect(create()).rejects.toThrow(`The disk of ${repository} is full`)
  expect(await readdir(join(repository, 'tmp'))).toEqual([])
  expect(await (await sourceOf(repository)).ids()).toEqual([first.manifest.id])
  expect(await problemsOf(repository)).toEqual([])
})

test('a drill proves a backup and leaves nothing behind', async () => {
  const place = await placeOfTest()
  const { manifest } = await place.backUp('repo')
  const temp = await folderOfTest()
  const source = await sourceOf(join(place.folder, 'repo'))
  expect(await drill(source, manifest.id, temp)).toMatchObject({ problems: [], contents: manifest.rows['contents'] })
  expect(await readdir(temp)).toEqual([])
  await rm(objectAt(join(place.folder, 'repo'), sha256Of(bytesOf(LARGE))))
  await expect(drill(source, manifest.id, temp)).rejects.toThrow('is missing')
  expect(await readdir(temp)).toEqual([])
})
