import { existsSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/contract/errors.ts'
import { Unreachable } from '../../../src/client/errors.ts'
import { tarOf, type Packed } from '../../support/tar.ts'
import { makeBench, readTree, write, type Bench } from './bench.ts'
import { everything, FakeServer, type Mischief } from './fake-server.ts'

// Many small things in one request: what a server, a network and other programs can do to it.

const once = (action: string, mischief: Mischief): Mischief => {
  let done = false
  return (name, params, server) => {
    if (name !== action || done) return undefined
    done = true
    return mischief(name, params, server)
  }
}

const whenever =
  (action: string, mischief: Mischief): Mischief =>
  (name, params, server) =>
    name === action ? mischief(name, params, server) : undefined

async function batching(): Promise<Bench> {
  const server = new FakeServer()
  server.features = everything
  return makeBench({ server })
}

/** What was asked of a server, each kind counted. */
const counts = ({ log }: FakeServer): Record<string, number> => {
  const counted: Record<string, number> = {}
  for (const line of log) counted[line.split(' ')[0]!] = (counted[line.split(' ')[0]!] ?? 0) + 1
  return counted
}

const names = Array.from({ length: 12 }, (_, at) => `d${at % 3}/f${at}.txt`)

/** A folder and an account in step, with a dozen files. */
async function settled(): Promise<Bench> {
  const bench = await batching()
  for (const name of names) write(bench.root, name, `content of ${name}`)
  await bench.sync()
  bench.server.log.length = 0
  return bench
}

function fill(server: FakeServer): void {
  for (const name of names) server.put(`/${name}`, `content of ${name}`)
}

async function* pieces(...parts: Uint8Array[]) {
  await Promise.resolve()
  for (const part of parts) yield part
}

const answer = (...parts: Uint8Array[]) => ({ status: 200, headers: {}, body: pieces(...parts) })

const endOf = (count: number, errors: object[] = []): Packed => ({
  name: '.svc-end.json',
  content: JSON.stringify({ count, errors }),
})

describe('going up', () => {
  test('small files travel in one request, with their times, and large ones beside them', async () => {
    const { root, server, sync } = await batching()
    for (const name of names) write(root, name, `content of ${name}`)
    write(root, 'large.bin', 'x'.repeat(300_000))
    write(root, 'empty', '')
    write(root, 'timed', 'x', 1_500_000_000)
    const summary = await sync()
    expect(summary).toMatchObject({ in_sync: true, uploaded: { files: 15 } })
    expect(server.tree()).toEqual(readTree(root))
    expect(server.files.get('/timed')!.mtime).toBe(1_500_000_000)
    expect(counts(server)).toEqual({ validate: 1, capabilities: 1, manifest: 1, upload_batch: 1, upload: 1 })
    server.log.length = 0
    expect(await sync()).toMatchObject({ in_sync: true, hashed: 0 })
    expect(await sync()).toMatchObject({ in_sync: true, hashed: 0 })
    expect(counts(server)).toEqual({ manifest: 2 })
  })

  test('without the announcement nothing is tried', async () => {
    const { root, server, sync } = await makeBench()
    for (const name of names) write(root, name, name)
    await sync()
    for (const name of names) rmSync(join(root, name))
    await sync({ maxDelete: 'any' })
    expect(server.log.filter((line) => line.includes('batch'))).toEqual([])
  })

  test('announced limits that make no sense count as none', async () => {
    for (const upload_batch of [
      null,
      7,
      { max_entries: -1, max_bytes: 1e9 },
      { max_entries: 1e9 },
      { max_bytes: 1e9 },
    ]) {
      const { root, server, sync } = await batching()
      server.features = { upload_batch }
      for (const name of names) write(root, name, name)
      expect(await sync()).toMatchObject({ in_sync: true })
      expect(counts(server)).toMatchObject({ upload: 12 })
    }
  })

  for (const [status, code] of [
    [400, 'unknown_action'],
    [404, 'not_found'],
    [405, 'method_not_allowed'],
    [415, 'unsupported_media_type'],
    [413, 'too_large'],
  ] as const) {
    test(`a server that answers ${status} to the batch gets every file on its own`, async () => {
      const { root, server, sync } = await batching()
      for (const name of names) write(root, name, name)
      server.mischief = whenever('upload_batch', () => Promise.reject(fault(code)))
      expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 12 } })
      expect(server.tree()).toEqual(readTree(root))
      expect(server.requests('upload')).toBe(12)
      expect(server.requests('upload_batch')).toBeLessThanOrEqual(2)
    })
  }

  test('a web page instead of an answer is no end: the files go on their own', async () => {
    const { root, server, sync } = await batching()
    for (const name of names) write(root, name, name)
    server.mischief = whenever('upload_batch', () => Promise.reject(new Unreachable('html', { status: 403 })))
    expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 12 } })
  })

  test('an error of the server is given a second chance, and no third', async () => {
    const { root, server, sync } = await batching()
    for (const name of names) write(root, name, name)
    server.mischief = whenever('upload_batch', () => Promise.reject(fault('internal')))
    expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 12 } })
    expect(counts(server)).toMatchObject({ upload_batch: 2, upload: 12 })
  })

  test('an entry that is refused goes on its own; the others need not', async () => {
    const { root, server, sync } = await batching()
    for (const name of names) write(root, name, name)
    server.mischief = once('upload_batch', () => {
      const results = names.toSorted().map((name, index) => {
        if (index === 4) return { index, path: `/${name}`, ok: false, status: 500, code: 'internal' }
        server.put(`/${name}`, name)
        return { index, path: `/${name}`, ok: true, status: 200 }
      })
      return { ok: true, results }
    })
    expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 12 } })
    expect(server.requests('upload')).toBe(1)
    expect(server.tree()).toEqual(readTree(root))
  })

  test('a full quota is said of each file, without asking again', async () => {
    const { root, server, sync } = await batching()
    for (const name of names) write(root, name, name)
    server.mischief = whenever('upload_batch', () => ({
      ok: true,
      results: names
        .toSorted()
        .map((name, index) => ({ index, path: `/${name}`, ok: false, status: 413, code: 'quota_exceeded' })),
    }))
    const { skipped } = await sync()
    expect(skipped.map(({ code }) => code)).toEqual(names.map(() => 'quota'))
    expect(server.requests('upload')).toBe(0)
  })

  test('an answer that is lost after everything was stored costs one more request, and makes no conflict', async () => {
    const { root, server, sync } = await batching()
    for (const name of names) write(root, name, `content of ${name}`)
    server.mischief = once('upload_batch', () => {
      fill(server)
      return Promise.reject(new Unreachable('The connection broke off.'))
    })
    expect(await sync()).toMatchObject({ in_sync: true, conflicts: [], uploaded: { files: 12 } })
    expect(counts(server)).toMatchObject({ upload_batch: 2 })
    expect(server.tree()).toEqual(readTree(root))
  })

  test('what changed on the server after the listing is not overwritten', async () => {
    const { root, server, sync } = await settled()
    for (const name of names.slice(0, 3)) write(root, name, 'mine')
    write(root, 'new', 'mine')
    server.mischief = once('upload_batch', () => {
      server.put(`/${names[0]}`, 'theirs')
      server.put('/new', 'theirs')
    })
    const { conflicts } = await sync()
    expect(conflicts.map(({ path }) => path).sort()).toEqual([`/${names[0]}`, '/new'])
    expect(server.text(`/${names[0]}`)).toBe('theirs')
    expect(server.text(`/${names[1]}`)).toBe('mine')
    for (const { copy } of conflicts) expect(server.text(copy)).toBe('mine')
    expect(server.tree()).toEqual(readTree(root))
  })

  for (const [what, meddle] of [
    ['grew', (place: string) => writeFileSync(place, 'much, much longer than it was before')],
    ['shrank', (place: string) => writeFileSync(place, '')],
    ['was rewritten', (place: string) => writeFileSync(place, 'CONTENT of d0/f0.txt')],
    ['went away', (place: string) => rmSync(place)],
    [
      'was replaced by another',
      (place: string) => (writeFileSync(`${place}~`, 'other'), renameSync(`${place}~`, place)),
    ],
    ['became a link', (place: string) => (rmSync(place), symlinkSync('/etc/passwd', place))],
  ] as const) {
    test(`a file that ${what} after the scan does not arrive half, and the others arrive`, async () => {
      const { root, server, sync } = await batching()
      for (const name of names) write(root, name, `content of ${name}`)
      const place = join(root, names[0]!)
      server.mischief = once('upload_batch', () => void meddle(place))
      await sync()
      const tree = readTree(root)
      if (what === 'became a link') delete tree[`/${names[0]}`]
      expect(server.tree()).toEqual(tree)
      for (const name of names.slice(1)) expect(server.text(`/${name}`)).toBe(`content of ${name}`)
    })
  }

  test('a token that is not taken any more ends the run', async () => {
    const { root, server, sync } = await batching()
    for (const name of names) write(root, name, name)
    server.mischief = whenever('upload_batch', () => Promise.reject(fault('unauthorized')))
    await expect(sync()).rejects.toMatchObject({ code: 'unauthorized' })
    expect(server.files.size).toBe(0)
  })

  test('what stood before the end of a broken archive counts as stored', async () => {
    const { root, server, sync } = await batching()
    for (const name of names) write(root, name, `content of ${name}`)
    server.mischief = once('upload_batch', () => {
      const first = names.toSorted().slice(0, 5)
      for (const name of first) server.put(`/${name}`, `content of ${name}`)
      const results = first.map((name, index) => ({ index, path: `/${name}`, ok: true, status: 200 }))
      return Promise.reject(fault('bad_request', { fields: { results } }))
    })
    expect(await sync()).toMatchObject({ in_sync: true, uploaded: { files: 12 } })
    expect(server.requests('upload')).toBe(7)
  })
})

describe('coming down', () => {
  test('small files come in one request, with their times, and large ones beside them', async () => {
    const { root, server, sync } = await batching()
    fill(server)
    server.put('/large.bin', 'x'.repeat(300_000))
    server.put('/empty', '')
    server.put('/timed', 'x', 1_500_000_000)
    server.put('/.svc-end.json', 'a file like any other')
    expect(await sync()).toMatchObject({ in_sync: true, downloaded: { files: 16 } })
    expect(readTree(root)).toEqual(server.tree())
    expect(statSync(join(root, 'timed')).mtimeMs).toBe(1_500_000_000_000)
    expect(counts(server)).toMatchObject({ download_batch: 1, download: 2 })
    expect(readdirSync(join(root, '.svc', 'tmp'))).toEqual([])
    expect(await sync()).toMatchObject({ in_sync: true, hashed: 0, requests: 1 })
  })

  test('files that are replaced go to the trash, and keep their modes', async () => {
    const { root, server, sync } = await settled()
    for (const name of names) server.put(`/${name}`, `new ${name}`)
    expect(await sync()).toMatchObject({ in_sync: true, downloaded: { files: 12 } })
    expect(readTree(root)).toEqual(server.tree())
    const [run] = readdirSync(join(root, '.svc', 'trash'))
    expect(readTree(join(root, '.svc', 'trash', run!))).toMatchObject(
      Object.fromEntries(names.map((name) => [`/${name}`, `content of ${name}`])),
    )
  })

  test('what is edited or made here meanwhile is kept', async () => {
    const { root, server, sync } = await settled()
    for (const name of names) server.put(`/${name}`, `new ${name}`)
    server.put('/new', 'theirs')
    server.mischief = once('download_batch', () => {
      write(root, names[0]!, 'mine')
      write(root, 'new', 'mine')
    })
    const { conflicts } = await sync()
    expect(conflicts.map(({ path }) => path).sort()).toEqual([`/${names[0]}`, '/new'])
    expect(readTree(root)).toMatchObject({
      [`/${names[0]}`]: `new ${names[0]}`,
      '/new': 'theirs',
      [conflicts[0]!.copy]: 'mine',
      [conflicts[1]!.copy]: 'mine',
    })
    expect(server.tree()).toEqual(readTree(root))
  })

  const good = (server: FakeServer, from = 0, to = names.length): Packed[] =>
    names.slice(from, to).map((name) => server.entry(`/${name}`))

  for (const [what, archive] of [
    ['names nobody asked for', (server: FakeServer) => tarOf(...good(server, 0, 3), { name: 'other', content: 'x' })],
    ['a way out', (server: FakeServer) => tarOf(...good(server, 0, 3), { name: '../evil', content: 'x' })],
    ['an absolute way out', (server: FakeServer) => tarOf({ name: '/../../evil', content: 'x' }, ...good(server))],
    ['the same twice', (server: FakeServer) => tarOf(...good(server, 0, 3), ...good(server), endOf(12))],
    ['a link', (server: FakeServer) => tarOf({ ...server.entry(`/${names[0]}`), type: '2' }, ...good(server, 1))],
    ['a hard link', (server: FakeServer) => tarOf({ ...server.entry(`/${names[0]}`), type: '1' }, ...good(server, 1))],
    ['a folder', (server: FakeServer) => tarOf({ ...server.entry(`/${names[0]}`), type: '5' }, ...good(server, 1))],
    [
      'more than announced',
      (server: FakeServer) =>
        tarOf({ ...server.entry(`/${names[0]}`), content: 'content and more' }, ...good(server, 1)),
    ],
    [
      'a size beyond all bounds',
      (server: FakeServer) => tarOf({ ...server.entry(`/${names[0]}`), size: 8 ** 11 - 1 }, ...good(server, 1)),
    ],
    ['a web page', () => Buffer.from(`<html>${'x'.repeat(2_000)}</html>`)],
    ['nothing', () => Buffer.alloc(0)],
    ['an end that is none', (server: FakeServer) => tarOf({ ...endOf(1), content: '[}' }, ...good(server))],
  ] as const) {
    test(`an archive with ${what} is not read on: the files come on their own`, async () => {
      const { root, server, sync } = await batching()
      fill(server)
      server.mischief = whenever('download_batch', () => answer(archive(server)))
      expect(await sync()).toMatchObject({ in_sync: true, skipped: [], downloaded: { files: 12 } })
      expect(readTree(root)).toEqual(server.tree())
      expect(server.requests('download_batch')).toBe(1)
      expect(readdirSync(join(root, '.svc', 'tmp'))).toEqual([])
      expect(existsSync(join(root, '..', 'evil'))).toBe(false)
    })
  }

  test('of an archive that is cut off the whole files are taken, and only the others asked for again', async () => {
    const { root, server, sync } = await batching()
    fill(server)
    const asked: number[] = []
    server.mischief = whenever('download_batch', (_, { paths }) => {
      const wanted = paths as string[]
      asked.push(wanted.length)
      const some = tarOf(...wanted.slice(0, 5).map((path) => server.entry(path)))
      // In the middle of the fifth.
      return answer(some.subarray(0, some.length - 1_530))
    })
    expect(await sync()).toMatchObject({ in_sync: true, downloaded: { files: 12 } })
    expect(readTree(root)).toEqual(server.tree())
    expect(asked).toEqual([12, 8, 4, 1])
    expect(server.requests('download')).toBe(1)
  })

  test('a connection that breaks in the middle goes on from there', async () => {
    const { root, server, sync, slept } = await batching()
    fill(server)
    server.mischief = once('download_batch', () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield* pieces(tarOf(...good(server, 0, 4)).subarray(0, -1_024))
        throw new Unreachable('The connection broke off.')
      })(),
    }))
    expect(await sync()).toMatchObject({ in_sync: true, downloaded: { files: 12 } })
    expect(readTree(root)).toEqual(server.tree())
    expect(slept).toEqual([500])
    expect(server.requests('download')).toBe(0)
  })

  test('a file with other content than announced is asked for alone, and reported', async () => {
    const { root, server, sync } = await batching()
    fill(server)
    const bad = { ...server.entry(`/${names[0]}`), content: 'CONTENT of d0/f0.txt' }
    server.mischief = (action, { path }) => {
      if (action === 'download_batch') return answer(tarOf(bad, ...good(server, 1), endOf(12)))
      if (path === `/${names[0]}`) return answer(Buffer.from(bad.content))
      return undefined
    }
    const summary = await sync()
    expect(summary).toMatchObject({ downloaded: { files: 11 }, skipped: [{ path: `/${names[0]}`, code: 'corrupt' }] })
    expect(existsSync(join(root, names[0]!))).toBe(false)
    server.mischief = undefined
    expect(await sync()).toMatchObject({ in_sync: true })
  })

  test('what changed or went away on the server since the listing is found by the next one', async () => {
    const { root, server, sync } = await batching()
    fill(server)
    server.mischief = once('download_batch', () => {
      server.put(`/${names[0]}`, 'changed')
      server.remove(`/${names[1]}`)
    })
    expect(await sync()).toMatchObject({ in_sync: true, downloaded: { files: 11 } })
    expect(readTree(root)).toEqual(server.tree())
  })

  test('a folder turned into a link is not written through', async () => {
    const { root, server, sync } = await settled()
    for (const name of names) server.put(`/${name}`, `new ${name}`)
    const outside = `${root}-outside`
    server.mischief = once('download_batch', () => {
      renameSync(join(root, 'd0'), outside)
      symlinkSync(outside, join(root, 'd0'))
    })
    await sync()
    const kept = Object.entries(readTree(outside))
    expect(kept.length).toBe(4)
    for (const [path, content] of kept) expect(content).toBe(`content of d0${path}`)
    rmSync(outside, { recursive: true })
  })
})

describe('folders and deletions', () => {
  test('empty folders are made in one request', async () => {
    const { root, server, sync } = await batching()
    write(root, 'keep', 'x')
    for (let at = 0; at < 20; at += 1) write(root, `empty${at}/x`, '')
    for (let at = 0; at < 20; at += 1) rmSync(join(root, `empty${at}/x`))
    expect(await sync()).toMatchObject({ in_sync: true, folders: 20 })
    expect(server.tree()).toEqual(readTree(root))
    expect(counts(server)).toMatchObject({ files_batch: 1 })
  })

  test('files and then their folders are deleted, in two requests', async () => {
    const { root, server, sync } = await settled()
    for (const folder of ['d0', 'd1', 'd2']) rmSync(join(root, folder), { recursive: true })
    write(root, 'keep', 'x')
    expect(await sync({ maxDelete: 'any' })).toMatchObject({ in_sync: true, removed_there: 15 })
    expect(server.tree()).toEqual({ '/keep': 'x' })
    expect(counts(server)).toEqual({ manifest: 1, upload: 1, files_batch: 2 })
  })

  test('folders are deleted one by one where a batch cannot ask that they are empty', async () => {
    const { root, server, sync } = await settled()
    server.features = { ...everything, files_batch: { max_operations: 500 } }
    for (const folder of ['d0', 'd1', 'd2']) rmSync(join(root, folder), { recursive: true })
    expect(await sync({ maxDelete: 'any', token: 'b'.repeat(64) })).toMatchObject({ in_sync: true })
    expect(counts(server)).toMatchObject({ files_batch: 1, delete: 3 })
  })

  test('what was edited or added there after the listing is not deleted', async () => {
    const { root, server, sync } = await settled()
    for (const folder of ['d0', 'd1', 'd2']) rmSync(join(root, folder), { recursive: true })
    server.mischief = once('files_batch', () => {
      server.put(`/${names[0]}`, 'edited there')
      server.put('/d1/new', 'new')
    })
    await sync({ maxDelete: 'any' })
    expect(server.tree()).toEqual({ '/d0': null, [`/${names[0]}`]: 'edited there', '/d1': null, '/d1/new': 'new' })
    expect(readTree(root)).toEqual(server.tree())
  })

  test('what comes back here before the server is told stays', async () => {
    const { root, server, sync } = await settled()
    for (const name of names.slice(0, 6)) rmSync(join(root, name))
    server.put('/late', 'x')
    server.mischief = once('download', () => write(root, names[0]!, 'again'))
    await sync({ maxDelete: 'any' })
    expect(server.text(`/${names[0]}`)).toBe('again')
    expect(readTree(root)).toEqual(server.tree())
  })

  for (const code of ['unknown_action', 'method_not_allowed'] as const) {
    test(`a server that answers ${code} to the batch is asked for each`, async () => {
      const { root, server, sync } = await settled()
      rmSync(join(root, 'd0'), { recursive: true })
      server.mischief = whenever('files_batch', () => Promise.reject(fault(code)))
      expect(await sync({ maxDelete: 'any' })).toMatchObject({ in_sync: true, removed_there: 5 })
      expect(server.tree()).toEqual(readTree(root))
    })
  }
})
