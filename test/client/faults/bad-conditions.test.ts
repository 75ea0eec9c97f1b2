import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DiskFull } from '../../../src/base/errors.ts'
import { fault } from '../../../src/contract/errors.ts'
import { smallDisk } from '../../support/small-disk.ts'
import { makeBench, NOW, readTree, write } from '../sync/bench.ts'
import { everything } from '../sync/fake-server.ts'

// A disk that is full or cannot be written to, a clock that is wrong, a folder that goes away, a token that ends: nothing is deleted
// because of it, and the summary says what happened.

const MIB = 1_048_576

for (const [how, features] of [
  ['one by one', {}],
  ['in batches', everything],
] as const) {
  test(`on a full disk nothing is deleted, here or there, and later everything arrives: ${how}`, async ({ skip }) => {
    const disk = await smallDisk(3 * MIB)
    if ('reason' in disk) return skip(disk.reason)
    const root = join(disk.folder, 'files')
    mkdirSync(root)
    const { server, sync } = await makeBench({ root })
    server.features = features
    for (const name of ['gone-here', 'gone-there', 'stays']) write(root, `${name}.txt`, name)
    await sync()
    rmSync(join(root, 'gone-here.txt'))
    server.remove('/gone-there.txt')
    for (let at = 0; at < 40; at += 1) server.put(`/big/${at}.bin`, `${at} `.repeat(60_000))

    try {
      const { in_sync, skipped } = await sync()
      expect(in_sync).toBe(false)
      expect(new Set(skipped.map(({ code }) => code))).toEqual(new Set(['no_space']))
    } catch (error) {
      // Not even what the engine knows could be written down any more.
      expect(error).toBeInstanceOf(DiskFull)
    }
    expect(server.text('/gone-here.txt')).toBe('gone-here')
    const here = readTree(root)
    expect(here).toMatchObject({ '/gone-there.txt': 'gone-there', '/stays.txt': 'stays' })
    // Whatever arrived is whole.
    for (const [path, content] of Object.entries(here))
      if (path.endsWith('.bin')) expect(content).toBe(server.text(path))
    rmSync(join(root, 'big'), { recursive: true })
    server.remove('/big')
    server.put('/big/1.bin', 'small now')
    expect(await sync({ maxDelete: 'any' })).toMatchObject({ in_sync: true })
    expect(readTree(root)).toEqual(server.tree())
    expect(Object.keys(server.tree())).toEqual(['/big', '/big/1.bin', '/stays.txt'])
  })
}

test('on a disk that can only be read nothing is deleted on the server', async ({ skip }) => {
  const disk = await smallDisk(3 * MIB)
  if ('reason' in disk) return skip(disk.reason)
  const root = join(disk.folder, 'files')
  mkdirSync(root)
  const { server, sync } = await makeBench({ root })
  for (const name of ['a', 'b']) write(root, `${name}.txt`, name)
  await sync()
  server.put('/new.txt', 'new')
  const before = server.tree()
  await disk.freeze()
  await expect(sync()).rejects.toThrow(/EROFS|read.?only/i)
  expect(server.tree()).toEqual(before)
  expect(readTree(root)).toEqual({ '/a.txt': 'a', '/b.txt': 'b' })
})

for (const hours of [-30, 30]) {
  test(`a clock that is ${hours} hours wrong decides nothing`, async () => {
    const { root, server, sync, time } = await makeBench()
    time.now = NOW + hours * 3_600_000
    write(root, 'a.txt', 'first')
    await sync()
    server.put('/a.txt', 'later there, and older by its time', 1)
    await sync()
    expect(readTree(root)).toEqual({ '/a.txt': 'later there, and older by its time' })
    write(root, 'a.txt', 'later here', 2)
    time.now = NOW
    expect(await sync()).toMatchObject({ in_sync: true, conflicts: [] })
    expect(server.tree()).toEqual({ '/a.txt': 'later here' })
    expect(await sync()).toMatchObject({ requests: 1 })
  })
}

test('a folder that is emptied, or goes away, while deletions are under way loses nothing on the server', async () => {
  const { root, server, sync } = await makeBench()
  for (let at = 0; at < 60; at += 1) write(root, `d/${at}.txt`, `content ${at}`)
  await sync()
  for (let at = 0; at < 20; at += 1) rmSync(join(root, `d/${at}.txt`))
  server.mischief = (action) => {
    if (action !== 'delete' || server.requests('delete') > 1) return undefined
    renameSync(root, `${root}-away`)
    mkdirSync(root)
    return undefined
  }
  await expect(sync()).rejects.toMatchObject({ reason: 'gone', exitCode: 8 })
  // Those that had left already: what was meant, and nothing else.
  expect(server.files.size).toBeGreaterThanOrEqual(60 - 8)
  expect(readdirSync(root)).toEqual([])
  rmSync(root, { recursive: true })
  renameSync(`${root}-away`, root)
  // It went away with the folder, and its process is this one.
  rmSync(join(root, '.svc/lock'))
  server.mischief = undefined
  expect(await sync()).toMatchObject({ in_sync: true })
  expect(server.files.size).toBe(40)
})

test('a token that ends in the middle of a run ends it: what was done stays, and nothing is deleted', async () => {
  const { root, server, sync } = await makeBench()
  for (const name of ['a', 'b', 'c']) write(root, `${name}.txt`, name)
  await sync()
  rmSync(join(root, 'a.txt'))
  server.remove('/b.txt')
  for (let at = 0; at < 20; at += 1) write(root, `new/${at}.txt`, `content ${at}`)
  let sent = 0
  server.mischief = (action) =>
    action === 'upload' && (sent += 1) > 5 ? Promise.reject(fault('unauthorized')) : undefined
  await expect(sync()).rejects.toMatchObject({ code: 'unauthorized' })
  expect(server.text('/a.txt')).toBe('a')
  expect(readTree(root)['/b.txt']).toBe('b')
  server.mischief = undefined
  expect(await sync({ maxDelete: 'any' })).toMatchObject({ in_sync: true })
  expect(readTree(root)).toEqual(server.tree())
  expect(server.files.size).toBe(21)
})
