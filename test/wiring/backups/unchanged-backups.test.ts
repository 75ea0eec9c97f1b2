import { execFileSync, spawnSync } from 'node:child_process'
import { copyFile, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { DAY } from '../../../src/base/clock.ts'
import { verify, type Created } from '../../../src/domain/backups/backups.ts'
import { openCopyFile } from '../../../src/host/sqlite-engine.ts'
import { assembleDatabase } from '../../../src/storage/backups/scratch.ts'
import { openBackupContext } from '../../../src/wiring/backups/backup-context.ts'
import { backupFolder, backupTarget } from '../../../src/wiring/backups/backup-locations.ts'
import { planRemoval } from '../../../src/wiring/backups/pruning.ts'
import {
  forgeManifest,
  LARGE,
  manifestAt,
  noPassphrases,
  objectAt,
  placeOfTest,
  runSql,
  sourceOf,
  type Place,
} from '../../support/backups.ts'
import { bytesOf, sha256Of } from '../../support/contents.ts'
import { folderOfTest } from '../../support/server.ts'

const fileOf = ({ dataDir }: Place): string => join(dataDir, 'svc.db')
const repositoryOf = ({ folder }: Place): string => join(folder, 'repo')

/** What is wrong with these backups, or with all. */
const problemsOf = async (place: string, ids?: string[]) => {
  const source = await sourceOf(place)
  return (await verify(source, ids ?? (await source.ids()), await folderOfTest())).problems
}

/** The titles of the notes in a backup, and how many nodes there are. */
async function shownIn(repository: string, { manifest }: Created) {
  const source = await sourceOf(repository)
  const file = join(await folderOfTest(), 'assembled.db')
  await assembleDatabase(source, await source.manifest(manifest.id), file)
  const database = openCopyFile(file, { readonly: true })
  try {
    return {
      titles: database.prepare('select title from svc_notes order by id').pluck().all(),
      nodes: database.prepare('select count(*) from nodes').pluck().get(),
    }
  } finally {
    database.close()
  }
}

/** A place with two backups, of which the second found nothing new. */
async function backedUp(): Promise<Place> {
  const place = await placeOfTest({ isNew: false })
  expect((await place.backUp('repo')).unchanged).toBe(false)
  const again = await place.backUp('repo')
  expect(again).toMatchObject({ unchanged: true, manifest: { added: { objects: 0, bytes: 0 } } })
  return place
}

/** Backs up a data directory that nobody else has open, as a command does. */
async function backUpClosed({ dataDir, folder }: Place, to = 'repo'): Promise<Created> {
  const backing = await openBackupContext(dataDir, {})
  try {
    const wish = { to: join(folder, to), encrypt: false, startsOver: false }
    return await backing.domain.backups.create(await backupTarget(backing, wish, noPassphrases))
  } finally {
    await backing.close()
  }
}

const MILK = "update svc_notes set title = 'Silk' where title = 'Milk'"

/** Writes from a process of its own, which then closes the database or is killed. */
function writeElsewhere(file: string, statement: string, end: 'close' | 'kill'): void {
  const name = Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3'
  const last = end === 'close' ? 'database.close()' : "process.kill(process.pid, 'SIGKILL')"
  const program = `
    const database = new (require(${JSON.stringify(name)}))(${JSON.stringify(file)})
    database.exec(${JSON.stringify(statement)})
    ${last}`
  const { status, signal } = spawnSync(process.execPath, ['-e', program])
  expect([status, signal]).toEqual(end === 'close' ? [0, null] : [null, 'SIGKILL'])
}

const EMPTY_LOG = 'pragma wal_checkpoint(TRUNCATE)'

describe('what is written after a backup is in the next one', () => {
  const changes: Record<string, (place: Place) => Promise<unknown> | void> = {
    'a value of the same length': (place) => runSql(fileOf(place), MILK),
    'a value whose log was emptied': (place) => runSql(fileOf(place), MILK, EMPTY_LOG),
    'by another process': (place) => writeElsewhere(fileOf(place), MILK, 'close'),
    'by a process that was killed': (place) => writeElsewhere(fileOf(place), MILK, 'kill'),
    'with the clock set back': (place) => {
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - DAY)
      runSql(fileOf(place), MILK, EMPTY_LOG)
      clock.mockRestore()
    },
    'with the times of the file put back': async (place) => {
      const { atime, mtime } = await stat(fileOf(place))
      runSql(fileOf(place), MILK, EMPTY_LOG)
      await utimes(fileOf(place), atime, mtime)
    },
  }
  test.each(Object.entries(changes))('%s, while it is open', async (_, change) => {
    const place = await backedUp()
    await change(place)
    const next = await place.backUp('repo')
    expect(next.unchanged).toBe(false)
    expect((await shownIn(repositoryOf(place), next)).titles).toEqual(['Silk'])
    expect(await problemsOf(repositoryOf(place))).toEqual([])
    expect((await place.backUp('repo')).unchanged).toBe(true)
  })

  test.each(Object.entries(changes))('%s, while nobody has it open', async (_, change) => {
    const place = await backedUp()
    await place.close()
    expect((await backUpClosed(place)).unchanged).toBe(true)
    await change(place)
    const next = await backUpClosed(place)
    expect(next.unchanged).toBe(false)
    expect((await shownIn(repositoryOf(place), next)).titles).toEqual(['Silk'])
    expect(await problemsOf(repositoryOf(place))).toEqual([])
    expect((await backUpClosed(place)).unchanged).toBe(true)
  })

  test('a row more, a row less, a file of either kind', async () => {
    const place = await backedUp()
    const { sync, accounts } = place.local.domain
    const { id: user } = await accounts.byName('ada')
    const insert = { table: 'svc_notes', operation: 'INSERT', data: { title: 'Eggs' } } as const
    const steps: (() => Promise<unknown>)[] = [
      () => sync.push(user, { operations: [insert] }),
      () => Promise.resolve(runSql(fileOf(place), "delete from svc_notes where title = 'Milk'")),
      () => place.put('/more.txt', Buffer.from('more')),
      () => place.put('/more.bin', bytesOf(LARGE, 2)),
    ]
    const shown: unknown[] = []
    for (const step of steps) {
      await step()
      const next = await place.backUp('repo')
      expect(next.unchanged).toBe(false)
      shown.push(await shownIn(repositoryOf(place), next))
      expect((await place.backUp('repo')).unchanged).toBe(true)
    }
    const { nodes } = shown[0] as { nodes: number }
    expect(shown).toEqual([
      { titles: ['Milk', 'Eggs'], nodes },
      { titles: ['Eggs'], nodes },
      { titles: ['Eggs'], nodes: nodes + 1 },
      { titles: ['Eggs'], nodes: nodes + 2 },
    ])
    expect(await problemsOf(repositoryOf(place))).toEqual([])
  })

  test('another database in the place of the file, with its times', async () => {
    const place = await backedUp()
    await place.close()
    expect((await backUpClosed(place)).unchanged).toBe(true)
    const file = fileOf(place)
    const { atime, mtime } = await stat(file)
    await copyFile(file, `${file}.new`)
    runSql(`${file}.new`, MILK)
    await rename(`${file}.new`, file)
    await utimes(file, atime, mtime)
    const next = await backUpClosed(place)
    expect(next.unchanged).toBe(false)
    expect((await shownIn(repositoryOf(place), next)).titles).toEqual(['Silk'])
  })

  test('what another program copies over the file', async () => {
    const place = await backedUp()
    await place.close()
    const file = fileOf(place)
    await copyFile(file, `${file}.new`)
    runSql(`${file}.new`, MILK)
    execFileSync('cp', ['-p', `${file}.new`, file])
    const next = await backUpClosed(place)
    expect(next.unchanged).toBe(false)
    expect((await shownIn(repositoryOf(place), next)).titles).toEqual(['Silk'])
  })

  test.each(['here', 'elsewhere'])('what is written while a backup is made, %s', async (where) => {
    const place = await placeOfTest({ isNew: false })
    const target = await backupTarget(
      place.local,
      { to: repositoryOf(place), encrypt: false, startsOver: false },
      noPassphrases,
    )
    let written: Promise<unknown> = Promise.resolve()
    // It is told when the database has been copied.
    const total = () => {
      if (where === 'elsewhere') runSql(fileOf(place), MILK)
      else written = place.put('/late.txt', Buffer.from('late'))
    }
    const first = await place.local.domain.backups.create(target, { progress: { total, add: () => undefined } })
    await written
    const before = await shownIn(repositoryOf(place), first)
    expect(before.titles).toEqual(['Milk'])
    const next = await place.backUp('repo')
    expect(next.unchanged).toBe(false)
    const after = await shownIn(repositoryOf(place), next)
    expect(after).not.toEqual(before)
  })
})

describe('a backup of what has not changed is complete', () => {
  test('when objects are gone', async () => {
    const place = await backedUp()
    const { manifest } = await place.backUp('repo')
    const gone = [manifest.database.pieces[0]!, manifest.blobs.lists[0]!.sha256, sha256Of(bytesOf(LARGE))]
    const expectWhole = async () => {
      const { unchanged, manifest: whole } = await place.backUp('repo')
      expect(unchanged).toBe(false)
      expect(await problemsOf(repositoryOf(place), [whole.id])).toEqual([])
    }
    for (const sha256 of gone) {
      await rm(objectAt(repositoryOf(place), sha256))
      await expectWhole()
      expect((await place.backUp('repo')).unchanged).toBe(true)
    }
    await writeFile(objectAt(repositoryOf(place), gone[2]!), 'short')
    await expectWhole()
  })

  test('when the last backup is gone or says something else', async () => {
    const place = await backedUp()
    const { manifest } = await place.backUp('repo')
    await rm(manifestAt(repositoryOf(place), manifest.id))
    const whole = await place.backUp('repo')
    expect(whole.unchanged).toBe(false)
    await forgeManifest(repositoryOf(place), whole.manifest.id, ({ rows }) => void (rows['users'] = 7))
    const next = await place.backUp('repo')
    expect([next.unchanged, next.manifest.rows['users']]).toEqual([false, 1])
  })

  test('when all others were removed', async () => {
    const place = await backedUp()
    const last = await place.backUp('repo')
    const folder = await backupFolder({ from: repositoryOf(place), dataDir: place.dataDir, env: {} }, noPassphrases)
    const pruning = await planRemoval(folder, { last: 1, daily: 0, weekly: 0, monthly: 0 })
    await pruning.execute()
    await place.local.domain.backups.pruned(['…'], repositoryOf(place))
    expect(await (await sourceOf(repositoryOf(place))).ids()).toEqual([last.manifest.id])
    expect((await place.backUp('repo')).unchanged).toBe(true)
    expect(await problemsOf(repositoryOf(place))).toEqual([])
  })

  test('in another folder, in an archive, and in the first folder again', async () => {
    const place = await backedUp()
    for (const to of ['other', 'svc.tar', 'repo']) {
      expect((await place.backUp(to)).unchanged).toBe(false)
      expect(await problemsOf(join(place.folder, to))).toEqual([])
    }
    expect((await place.backUp('repo')).unchanged).toBe(true)
  })

  test('with the configuration as it is now', async () => {
    const place = await backedUp()
    await writeFile(join(place.dataDir, 'config.json'), '{"port": 9000}\n')
    const { unchanged, manifest } = await place.backUp('repo')
    expect(unchanged).toBe(true)
    expect(manifest.files.map(({ path }) => path)).toContain('config.json')
    expect(manifest.added.objects).toBe(1)
    expect(await problemsOf(repositoryOf(place))).toEqual([])
  })

  test('when contents that were missing are back', async () => {
    const place = await placeOfTest({ isNew: false })
    const sha256 = sha256Of(bytesOf(LARGE))
    const path = join(place.dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
    const bytes = await readFile(path)
    await rm(path)
    expect((await place.backUp('repo')).manifest.missing).toEqual([sha256])
    await writeFile(path, bytes)
    expect(await place.backUp('repo')).toMatchObject({ unchanged: false, manifest: { missing: [] } })
    expect(await problemsOf(repositoryOf(place))).toEqual([])
  })

  test('when it is encrypted', async () => {
    const place = await placeOfTest({ isNew: false })
    const passphrases = { ...noPassphrases, chosen: () => Promise.resolve('difference engine'), work: 4 }
    const wish = { to: repositoryOf(place), encrypt: true, startsOver: false }
    const create = async () => place.local.domain.backups.create(await backupTarget(place.local, wish, passphrases))
    expect((await create()).unchanged).toBe(false)
    const again = await create()
    expect(again).toMatchObject({ unchanged: true, manifest: { added: { objects: 0 } } })
    const seeking = { from: repositoryOf(place), dataDir: place.dataDir, env: {} }
    const { header, key } = await backupFolder(seeking, noPassphrases)
    const { readRepository } = await import('../../../src/storage/backups/repository.ts')
    const source = readRepository(repositoryOf(place), header, key)
    expect((await verify(source, await source.ids(), await folderOfTest())).problems).toEqual([])
    runSql(fileOf(place), MILK)
    expect((await create()).unchanged).toBe(false)
  })
})

test('what is noted of the last backup may be lost, broken or that of another version', async () => {
  const place = await backedUp()
  const file = join(place.dataDir, 'tmp', 'last-backup.json')
  const note = JSON.parse(await readFile(file, 'utf8')) as object
  for (const text of ['', 'null', '[]', JSON.stringify({ ...note, version: '0.0.1' })]) {
    await writeFile(file, text)
    expect((await place.backUp('repo')).unchanged).toBe(false)
  }
  expect(await readdir(join(place.dataDir, 'tmp'))).toEqual(['last-backup.json'])
})

test('every backup is in the audit log and is the last one, also of what has not changed', async () => {
  const place = await backedUp()
  const { manifest } = await place.backUp('repo')
  expect((await place.local.domain.backups.lastBackup())?.id).toBe(manifest.id)
  const entries = await place.local.domain.instance.audit.list({ limit: 10 })
  expect(entries.filter(({ kind }) => kind === 'backup.created')).toHaveLength(3)
})
