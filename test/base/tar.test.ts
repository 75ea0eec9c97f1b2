import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BadTar, readTar } from '../../src/base/tar-reader.ts'
import { tarEnd } from '../../src/base/tar-writer.ts'
import { folderOfTest } from '../support/server.ts'
import { entryBytes, tarOf, unpacked } from '../support/tar.ts'

const long = `${'n'.repeat(200)}/${'ü'.repeat(100)}/x`

describe('an archive', () => {
  const archive = tarOf(
    { name: 'a.txt', content: 'hello' },
    { name: '/empty' },
    { name: long, content: 'x'.repeat(512), keys: { 'SVC.sha256': 'abc', 'SVC.note': 'a = b\nc' } },
    { name: 'späte 🌳', content: 'y'.repeat(1_025), mtime: 99_999_999_999 },
  )

  test.each([1, 7, 511, 512, 513, 100_000])('is read back in pieces of %i bytes', async (piece) => {
    expect(await unpacked(archive, piece)).toEqual([
      { name: 'a.txt', type: '0', size: 5, mtime: 1_000, keys: {}, content: 'hello' },
      { name: '/empty', type: '0', size: 0, mtime: 1_000, keys: {}, content: '' },
      {
        name: long,
        type: '0',
        size: 512,
        mtime: 1_000,
        keys: { path: long, 'SVC.sha256': 'abc', 'SVC.note': 'a = b\nc' },
        content: 'x'.repeat(512),
      },
      expect.objectContaining({ name: 'späte 🌳', size: 1_025, mtime: 99_999_999_999, content: 'y'.repeat(1_025) }),
    ])
  })

  test('may be read in part: what is left of a content is skipped', async () => {
    const seen: string[] = []
    async function* source() {
      yield await Promise.resolve(archive)
    }
    for await (const { name, body } of readTar(source())) {
      seen.push(name)
      if (name === long) for await (const _ of body) break
    }
    expect(seen).toEqual(['a.txt', '/empty', long, 'späte 🌳'])
  })

  test('is one that tar reads, and one that tar writes is read', async () => {
    const folder = await folderOfTest()
    await writeFile(join(folder, 'made.tar'), archive)
    await mkdir(join(folder, 'out'))
    execFileSync('tar', ['-xf', 'made.tar', '-C', 'out', 'a.txt', long, 'späte 🌳'], {
      cwd: folder,
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    expect(await readFile(join(folder, 'out', 'späte 🌳'), 'utf8')).toBe('y'.repeat(1_025))
    expect(await readFile(join(folder, 'out', long), 'utf8')).toBe('x'.repeat(512))
    execFileSync(
      'tar',
      ['--format=pax', '--pax-option=SVC.sha256:=abc', '-cf', 'other.tar', '-C', 'out', 'a.txt', long],
      {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'ignore'],
      },
    )
    const entries = await unpacked(await readFile(join(folder, 'other.tar')))
    expect(entries.map(({ name, type, content }) => [name, type, content])).toEqual([
      ['a.txt', '0', 'hello'],
      [long, '0', 'x'.repeat(512)],
    ])
    expect(entries[0]!.keys['SVC.sha256']).toBe('abc')
  })
})

describe('what makes no sense', () => {
  const one = entryBytes({ name: 'a', content: 'hello' })
  const spoilt = Buffer.from(one)
  spoilt[0] = 0x62
  const withRecords = (records: string) => entryBytes({ name: 'pax', type: 'x', content: records })
  const cases: [what: string, archive: Buffer, why: RegExp][] = [
    ['nothing at all', Buffer.alloc(0), /too early/],
    ['no end', one, /too early/],
    ['half a header', one.subarray(0, 300), /too early/],
    ['half a content', one.subarray(0, 515), /too early/],
    ['a changed header', Buffer.concat([spoilt, tarEnd()]), /checksum/],
    ['noise', Buffer.alloc(2_048, 'tar'), /checksum|octal/],
    ['gzip', Buffer.concat([Buffer.from([0x1f, 0x8b, 8]), Buffer.alloc(2_048)]), /decompress it first/],
    ['a long name of GNU', tarOf({ name: 'x', type: 'L', content: 'long' }), /GNU/],
    ['a huge extended header', tarOf({ name: 'x', type: 'x', size: 1_000_000 }), /too long/],
    ['an extended header without lengths', Buffer.concat([withRecords('path=x\n'), one, tarEnd()]), /broken/],
    ['a record longer than its header', Buffer.concat([withRecords('99 path=x\n'), one, tarEnd()]), /broken/],
    ['a record without a sign', Buffer.concat([withRecords('8 pathx\n'), one, tarEnd()]), /broken/],
    ['a record of no length', Buffer.concat([withRecords('0 path=x\n'), one, tarEnd()]), /broken/],
    ['a size that is none', tarOf({ name: 'a', keys: { size: '-1' } }), /not one/],
    ['a size beyond all numbers', tarOf({ name: 'a', keys: { size: '9999999999999999' } }), /not one/],
    ['a content that is not there', tarOf({ name: 'a', size: 8 ** 11 - 1 }), /too early/],
  ]

  test.each(cases)('is refused: %s', async (_, archive, why) => {
    const reading = unpacked(archive)
    await expect(reading).rejects.toThrow(BadTar)
    await expect(reading).rejects.toThrow(why)
  })
})
