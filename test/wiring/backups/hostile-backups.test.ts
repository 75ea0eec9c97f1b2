import { link, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tarEnd } from '../../../src/base/tar-writer.ts'
import { verify } from '../../../src/domain/backups/backups.ts'
import type { Manifest } from '../../../src/storage/backups/backup-manifest.ts'
import { restore } from '../../../src/wiring/backups/restore.ts'
import {
  contentsBelow,
  forgeDatabase,
  forgeManifest,
  manifestAt,
  manifestOf,
  objectAt,
  placeOfTest,
  runSql,
  sourceOf,
} from '../../support/backups.ts'
import { entryBytes } from '../../support/tar.ts'
import { sha256Of } from '../../support/contents.ts'
import { folderOfTest } from '../../support/server.ts'

/** A fresh repository with one backup in it, and a sound restore to compare with. */
async function made() {
  const place = await placeOfTest()
  const { manifest } = await place.backUp('repo')
  await place.close()
  return { ...place, id: manifest.id, repository: join(place.folder, 'repo'), manifest }
}

/** Restoring fails with these words, and leaves neither the target nor anything beside it. */
async function refuses(path: string, id: string, words: RegExp): Promise<void> {
  const folder = await folderOfTest()
  const attempt = async () => restore(await sourceOf(path), id, { target: join(folder, 'new'), keepDevices: false })
  await expect(attempt()).rejects.toThrow(words)
  expect(await readdir(folder)).toEqual([])
}

async function problemsOf(path: string, id: string): Promise<string[]> {
  const source = await sourceOf(path)
  const { problems } = await verify(source, [id], await folderOfTest())
  return problems.map(({ what }) => what)
}

describe('a folder of backups', () => {
  type Change = (at: { repository: string; id: string; manifest: Manifest }) => Promise<unknown>

  const largeOf = async (repository: string): Promise<string> => {
    for (const shelf of await readdir(join(repository, 'objects')))
      for (const name of await readdir(join(repository, 'objects', shelf))) {
        const data = await readFile(objectAt(repository, name))
        if (data.length === 300_000) return objectAt(repository, name)
      }
    throw new Error('There is no large content.')
  }
  const sql =
    (...statements: string[]): Change =>
    ({ repository, id }) =>
      forgeDatabase(repository, id, (file) => runSql(file, ...statements))
  const lie =
    (change: (manifest: Manifest) => void): Change =>
    ({ repository, id }) =>
      forgeManifest(repository, id, change)

  const changes: [string, RegExp, Change][] = [
    [
      'a content with one byte changed',
      /object [0-9a-f]{64} is damaged/,
      async ({ repository }) => {
        const path = await largeOf(repository)
        const data = await readFile(path)
        await writeFile(path, data.with(1_000, data[1_000]! ^ 1))
      },
    ],
    ['a content cut off', /has the wrong length/, async ({ repository }) => truncate(await largeOf(repository), 10)],
    ['a content that is gone', /is missing/, async ({ repository }) => rm(await largeOf(repository))],
    [
      'a content that is a link to another file',
      /is a link/,
      async ({ repository }) => {
        const path = await largeOf(repository)
        const data = await readFile(path)
        await rm(path)
        await writeFile(join(repository, 'elsewhere'), data)
        await symlink(join(repository, 'elsewhere'), path)
      },
    ],
    [
      'a content that is a folder',
      /is not a file/,
      async ({ repository }) => {
        const path = await largeOf(repository)
        await rm(path)
        await mkdir(path)
      },
    ],
    [
      'a content that is a pipe nobody writes to',
      /is not a file/,
      async ({ repository }) => {
        const path = await largeOf(repository)
        await rm(path)
        execFileSync('mkfifo', [path])
      },
    ],
    [
      'a piece of the database changed',
      /is damaged/,
      async ({ repository, manifest }) => {
        const path = objectAt(repository, manifest.database.pieces[1]!)
        const data = await readFile(path)
        await writeFile(path, data.with(5, data[5]! ^ 1))
      },
    ],
    [
      'a list that names something else',
      /is damaged/,
      async ({ repository, manifest }) => {
        const path = objectAt(repository, manifest.blobs.lists[0]!.sha256)
        const data = await readFile(path)
        await writeFile(path, data.with(0, data[0]! === 48 ? 49 : 48))
      },
    ],
    [
      'a database with a trigger',
      /trigger evil that svc does not make/,
      sql('create trigger evil after insert on audit begin delete from users; end'),
    ],
    ['a database with a view', /view evil that svc does not make/, sql('create view evil as select * from users')],
    [
      'a database with a virtual table',
      /table evil that svc does not make/,
      sql('create virtual table evil using fts5(a)'),
    ],
    [
      'a database with another table',
      /table extra that svc does not make/,
      sql('create table extra (a integer) strict'),
    ],
    [
      'a synchronised table with a reckoned column',
      /table svc_evil that svc does not make/,
      sql(
        'create table "svc_evil" (id integer primary key autincrement, a text generated always as (lower(id))) strict'.replace(
          'autincrement',
          'autoincrement',
        ),
      ),
    ],
    [
      'a table with a check of its own',
      /table setup_links of the database is not as svc makes it/,
      sql(
        'drop table setup_links',
        'create table setup_links (token_hash text primary key, expires_at integer not null check (expires_at > 1)) strict',
      ),
    ],
    ['a database without an index', /index nodes_by_content is missing/, sql('drop index nodes_by_content')],
    [
      'a database with rows that point nowhere',
      /rows of nodes point to missing rows of users/,
      sql('pragma foreign_keys = off', 'delete from users'),
    ],
    [
      'a damaged page of the database',
      /the database (is damaged|cannot be read)/,
      ({ repository, id }) =>
        forgeDatabase(repository, id, (file) => {
          execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=4096', 'seek=1', 'count=3', 'conv=notrunc'], {
            stdio: 'ignore',
          })
        }),
    ],
    [
      'something else than a database',
      /cannot be read|is damaged/,
      ({ repository, id }) => forgeDatabase(repository, id, (file) => void execFileSync('cp', ['/bin/true', file])),
    ],
    [
      'a manifest that says fewer rows',
      /manifest says something else than the database: rows of users/,
      lie((manifest) => (manifest.rows['users'] = 7)),
    ],
    [
      'a manifest that says fewer files',
      /manifest says something else than the database: files/,
      lie((manifest) => (manifest.totals.files = 1)),
    ],
    [
      'a manifest of another server',
      /manifest says something else than the database: server_id/,
      lie((manifest) => (manifest.server_id = '0'.repeat(32))),
    ],
    [
      'a manifest that hides a content',
      /lists name other contents|manifest says something else/,
      lie((manifest) => {
        manifest.blobs = { count: 0, bytes: 0, lists: [] }
      }),
    ],
    [
      'a manifest that says a content was lost',
      /manifest says something else than the database: contents/,
      lie((manifest) => {
        manifest.missing = ['0'.repeat(64)]
        manifest.blobs = { count: 0, bytes: 0, lists: [] }
      }),
    ],
    [
      'a manifest from the future',
      /newer version of svc made it \(9999-future\)/,
      lie((manifest) => void manifest.migrations.push('9999-future')),
    ],
    [
      'a manifest with a path out of the data directory',
      /manifest .*is not valid: files/,
      lie((manifest) => (manifest.files[0]!.path = 'keys/../../evil')),
    ],
    [
      'a manifest with an absolute path',
      /manifest .*is not valid: files/,
      lie((manifest) => (manifest.files[0]!.path = '/etc/cron.d/evil')),
    ],
    [
      'a manifest with one path twice',
      /manifest .*is not valid: files/,
      lie((manifest) => void manifest.files.push(manifest.files[0]!)),
    ],
    [
      'a manifest with a hash that is a path',
      /manifest .*is not valid: database.pieces/,
      lie((manifest) => (manifest.database.pieces[0] = '../../../../etc/passwd')),
    ],
    [
      'a manifest with a huge file',
      /manifest .*is not valid: files/,
      lie((manifest) => (manifest.files[0]!.size = 2 ** 40)),
    ],
    [
      'a manifest with more pieces than bytes',
      /manifest .*is not valid: database.pieces/,
      lie((manifest) => (manifest.database.size = 1)),
    ],
    [
      'a manifest of another id',
      /manifest .*is not valid: id/,
      lie((manifest) => (manifest.id = '20200101-000000-0000')),
    ],
    [
      'a manifest with a prototype',
      /manifest .*is not valid: rows/,
      ({ repository, id }) =>
        readFile(manifestAt(repository, id), 'utf8').then((text) =>
          writeFile(manifestAt(repository, id), text.replace('"rows":{', '"rows":{"__proto__ ":1,')),
        ),
    ],
    [
      'a manifest that is no JSON',
      /manifest .*is not JSON/,
      ({ repository, id }) => writeFile(manifestAt(repository, id), '{'),
    ],
    [
      'a manifest that is a list',
      /manifest .*is not valid/,
      ({ repository, id }) => writeFile(manifestAt(repository, id), '[]'),
    ],
  ]

  test.each(changes)('with %s is found out and not restored', async (_, words, change) => {
    const { repository, id, manifest } = await made()
    await change({ repository, id, manifest })
    expect((await problemsOf(repository, id)).join('\n')).toMatch(words)
    await refuses(repository, id, words)
  })

  test('is read without changing anything in it', async () => {
    const { repository, id } = await made()
    const before = await contentsBelow(repository)
    expect(await problemsOf(repository, id)).toEqual([])
    await restore(await sourceOf(repository), id, { target: join(await folderOfTest(), 'new'), keepDevices: false })
    expect(await contentsBelow(repository)).toEqual(before)
  })

  test('shows what is broken without hiding what is sound', async () => {
    const place = await placeOfTest()
    const first = await place.backUp('repo')
    const sha256 = await place.put('/second.bin', Buffer.alloc(100_000, 7))
    const second = await place.backUp('repo')
    const repository = join(place.folder, 'repo')
    await rm(objectAt(repository, sha256))
    const source = await sourceOf(repository)
    const ids = await source.ids()
    expect(ids).toEqual([first.manifest.id, second.manifest.id])
    const { problems } = await verify(source, ids, await folderOfTest())
    const what = `The object ${sha256} is missing.`
    expect(problems).toEqual([{ backups: [second.manifest.id], what, used_by: ['ada: /second.bin'] }])
    const target = join(await folderOfTest(), 'new')
    await restore(source, first.manifest.id, { target, keepDevices: false })
    expect(await manifestOf(repository, first.manifest.id)).toEqual(first.manifest)
  })
})

describe('an archive', () => {
  let archive: Buffer
  let id = ''

  /** Made once, by the first test that needs it. */
  async function prepare(): Promise<void> {
    if (id) return
    const place = await placeOfTest()
    const { manifest } = await place.backUp('svc.tar')
    archive = await readFile(join(place.folder, 'svc.tar'))
    id = manifest.id
  }

  const BLOCK = 512

  /** The place of the header of the entry with a name. */
  const entryAt = (name: RegExp): number => {
    for (let at = 0; at < archive.length; at += BLOCK)
      if (
        archive.toString('latin1', at + 257, at + 262) === 'ustar' &&
        name.test(archive.toString('latin1', at, at + 100))
      )
        return at
    throw new Error(`There is no ${name}.`)
  }
  const withBytes = (at: number, bytes: Uint8Array): Buffer => {
    const changed = Buffer.from(archive)
    changed.set(bytes, at)
    return changed
  }
  /** The archive with the header of its first object replaced by one of the same length. */
  const withHeader = (entry: Parameters<typeof entryBytes>[0]): Buffer =>
    withBytes(entryAt(/^objects/), entryBytes(entry).subarray(0, BLOCK))

  const changes: [string, RegExp, () => Buffer][] = [
    ['cut off in the middle', /cut off|length is wrong/, () => archive.subarray(0, archive.length - 5_000)],
    ['cut off after its first block', /cut off|not an archive/, () => archive.subarray(0, BLOCK)],
    ['without its end', /length is wrong/, () => archive.subarray(0, archive.length - 2 * BLOCK)],
    ['with something behind its end', /length is wrong/, () => Buffer.concat([archive, tarEnd()])],
    ['with an end that is none', /its end is missing/, () => withBytes(archive.length - 1, Buffer.from([1]))],
    [
      'with a name that leads out of it',
      /not where it must be|not the expected one/,
      () => withHeader({ name: '../../../../etc/passwd', size: 0 }),
    ],
    [
      'with an absolute name',
      /not where it must be|not the expected one/,
      () => withHeader({ name: '/etc/passwd', size: 0 }),
    ],
    ['with a symbolic link', /not where it must be/, () => withHeader({ name: 'objects/aa/link', type: '2', size: 0 })],
    ['with a hard link', /not where it must be/, () => withHeader({ name: 'objects/aa/link', type: '1', size: 0 })],
    ['with a device', /not where it must be/, () => withHeader({ name: 'objects/aa/null', type: '3', size: 0 })],
    ['with a folder', /not where it must be/, () => withHeader({ name: 'objects/aa/', type: '5', size: 0 })],
    [
      'with an entry that says it is huge',
      /not where it must be/,
      () => withHeader({ name: `objects/aa/${'a'.repeat(64)}`, size: 2 ** 32 }),
    ],
    [
      'with another manifest in its place',
      /not the expected one/,
      () =>
        withBytes(entryAt(/^snapshots/), entryBytes({ name: 'snapshots/../../evil.json', size: 0 }).subarray(0, BLOCK)),
    ],
    [
      'with a content changed',
      /is damaged/,
      () => withBytes(archive.length - 3 * BLOCK - 10_000, Buffer.from('changed')),
    ],
    [
      'with bytes in what fills a block',
      /there is data after/,
      () => {
        const at = entryAt(/^svc-backup/)
        const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8)
        return withBytes(at + BLOCK + size, Buffer.from([1]))
      },
    ],
    ['of zeros', /not an archive/, () => Buffer.alloc(100_000)],
    ['of nothing', /cut off/, () => Buffer.alloc(0)],
  ]

  test.each(changes)('%s is refused', async (_, words, change) => {
    await prepare()
    const file = join(await folderOfTest(), 'svc.tar')
    await writeFile(file, change())
    await refuses(file, id, words)
  })

  test('whose entries come twice is refused', async () => {
    await prepare()
    const at = entryAt(/^objects/)
    const twice = Buffer.concat([archive.subarray(0, at + 2 * BLOCK), archive.subarray(at)])
    const file = join(await folderOfTest(), 'svc.tar')
    await writeFile(file, twice)
    await refuses(file, id, /not where it must be|length is wrong|cut off|damaged|something stands/)
  })

  test('that the system unpacks is a folder of backups', async () => {
    await prepare()
    const folder = await folderOfTest()
    await writeFile(join(folder, 'svc.tar'), archive)
    const repository = join(folder, 'unpacked')
    await mkdir(repository)
    execFileSync('tar', ['-xf', join(folder, 'svc.tar'), '-C', repository])
    expect(await problemsOf(repository, id)).toEqual([])
    await restore(await sourceOf(repository), id, { target: join(folder, 'new'), keepDevices: false })
    expect(await readdir(join(folder, 'new'))).toEqual(['blobs', 'keys', 'svc.db'])
  })

  test('may be named by a link', async () => {
    await prepare()
    const folder = await folderOfTest()
    await writeFile(join(folder, 'svc.tar'), archive)
    await link(join(folder, 'svc.tar'), join(folder, 'same.tar'))
    await symlink(join(folder, 'svc.tar'), join(folder, 'link.tar'))
    expect(await problemsOf(join(folder, 'same.tar'), id)).toEqual([])
    expect(await problemsOf(join(folder, 'link.tar'), id)).toEqual([])
    expect(sha256Of(await readFile(join(folder, 'svc.tar')))).toBe(sha256Of(archive))
  })
})
