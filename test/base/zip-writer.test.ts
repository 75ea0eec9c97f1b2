import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { zipLength, zipOf, type ZipEntry } from '../../src/base/zip-writer.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { explores } from '../support/explores.ts'
import { folderOfTest } from '../support/server.ts'
import { unzipped } from '../support/zip.ts'

interface Source extends ZipEntry {
  content?: Uint8Array
}

const file = (name: string, content: Uint8Array, mtime = 1_700_000_001): Source => ({
  name,
  size: content.length,
  mtime,
  content,
})

async function* inPieces(content: Uint8Array, piece: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += piece) {
    await Promise.resolve()
    yield content.subarray(at, at + piece)
  }
}

async function archiveOf(entries: Source[], piece = 50_000): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  const read = ({ content }: Source) => Promise.resolve(inPieces(content!, piece))
  for await (const part of zipOf(entries, read, crc32)) pieces.push(part)
  return Buffer.concat(pieces)
}

/** Sizes around those at which the form of a content changes, and where blocks end. */
const SIZES = [0, 1, 65_535, 65_536, 65_537, 131_069, 131_070, 131_071, 1_000_000]

describe('an archive', () => {
  test.each([1_000, 65_535, 1 << 20])(
    'read in pieces of %d bytes holds every content, and is as long as it was said to be',
    async (piece) => {
      const entries = SIZES.map((size) => file(`of ${size}`, bytesOf(size, size + 1)))
      const archive = await archiveOf(entries, piece)
      expect(archive.length).toBe(zipLength(entries))
      expect((await unzipped(archive)).map(({ name, size, sha256 }) => [name, size, sha256])).toEqual(
        entries.map(({ name, size, content }) => [name, size, sha256Of(content!)]),
      )
    },
  )

  test('without entries is one', async () => {
    const archive = await archiveOf([])
    expect([archive.length, await unzipped(archive)]).toEqual([zipLength([]), []])
  })

  test('says times in UTC and as clocks here show them, permissions, and that names are UTF-8', async () => {
    const names = ['ordinary', 'Grüße 🌳.txt', `"quoted" 'and' <more>|?*`, 'a/']
    const entries = names.map((name): Source => ({ name, size: 0, mtime: 1_700_000_001, content: new Uint8Array(0) }))
    const at = new Date(1_700_000_001_000)
    const wall = [at.getFullYear(), at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes()]
    expect(await unzipped(await archiveOf(entries))).toMatchObject(
      names.map((name) => ({
        name,
        mtime: 1_700_000_001,
        wall: [...wall, at.getSeconds() & ~1],
        mode: name === 'a/' ? 0o40755 : 0o100644,
        utf8: true,
      })),
    )
  })

  test('says of times that are too early or too late for its fields what comes nearest', async () => {
    const late = Date.UTC(2200, 0, 1) / 1_000
    const entries = [0, 2 ** 31 - 1, 2 ** 31, late, 99_999_999_999].map((mtime, at) => file(`${at}`, bytesOf(1), mtime))
    const archive = await archiveOf(entries)
    expect(archive.length).toBe(zipLength(entries))
    const found = await unzipped(archive)
    expect(found.map(({ mtime }) => mtime)).toEqual([0, 2 ** 31 - 1, null, null, null])
    expect(found.map(({ wall }) => wall[0])).toEqual([1980, 2038, 2038, 2107, 2107])
  })

  test.runIf(explores)('of more entries than 16 bits count uses ZIP64', async () => {
    const entries = Array.from({ length: 65_540 }, (_, at): Source => ({ name: `${at}/`, size: 0, mtime: at }))
    const archive = await archiveOf(entries)
    expect(archive.length).toBe(zipLength(entries))
    const found = await unzipped(archive)
    expect([found.length, found.at(-1)!.name]).toEqual([65_540, '65539/'])
  })

  test.runIf(explores)('of a content beyond 4 GiB, and of one behind it, uses ZIP64', async () => {
    const zeros = new Uint8Array(1 << 20)
    const size = 2 ** 32 + 5
    async function* long() {
      for (let left = size; left > 0; left -= zeros.length) {
        await Promise.resolve()
        yield zeros.subarray(0, left)
      }
    }
    const entries: Source[] = [
      { name: 'large', size, mtime: 5 },
      file('behind', bytesOf(70_000)),
      file('last', bytesOf(9)),
    ]
    const read = ({ content }: Source) => Promise.resolve(content ? [content] : long())
    // Its sum would take seconds, and nobody reads so far: a hole in the file stands for what is long.
    const sum = (bytes: Uint8Array, before?: number) => (bytes.buffer === zeros.buffer ? 7 : crc32(bytes, before))
    const folder = await folderOfTest()
    const path = join(folder, 'archive.zip')
    const archive = await open(path, 'w')
    let at = 0
    for await (const piece of zipOf(entries, read, sum)) {
      const isHole = at < size && at > 100 && (piece.buffer === zeros.buffer || piece.length === 5)
      if (!isHole) await archive.write(piece, 0, piece.length, at)
      at += piece.length
    }
    await archive.close()
    expect(at).toBe(zipLength(entries))
    const script = `
import hashlib, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    large, behind, last = archive.infolist()
    sums = [hashlib.sha256(archive.read(one)).hexdigest() for one in (behind, last)]
    archive.open(large).close()
    with open(sys.argv[1], 'rb') as raw:
        raw.seek(behind.header_offset - 24)
        tail = list(__import__('struct').unpack('<IIQQ', raw.read(24)))
print(json.dumps([large.file_size, large.compress_size, large.CRC, behind.header_offset > 2 ** 32, sums, tail]))`
    const { stdout } = await promisify(execFile)('python3', ['-c', script, path])
    const packed = size + 5 * Math.ceil(size / 65_535)
    const sums = [sha256Of(bytesOf(70_000)), sha256Of(bytesOf(9))]
    expect(JSON.parse(stdout)).toEqual([size, packed, 7, true, sums, [0x08074b50, 7, packed, size]])
  })

  test('breaks off where a content is longer or shorter than it was said to be, or cannot be read', async () => {
    for (const size of [10, 100_000])
      for (const off of [-1, 1])
        await expect(archiveOf([{ ...file('a', bytesOf(size)), size: size + off }])).rejects.toThrow('announced length')
    const read = () => Promise.reject(new Error('gone'))
    await expect(zipOf([file('a', bytesOf(1))], read, crc32).next()).rejects.toThrow('gone')
  })

  test('lets go of the content it is in when nobody wants the rest', async () => {
    let closed = 0
    async function* content() {
      try {
        for (;;) {
          await Promise.resolve()
          yield bytesOf(1_000)
        }
      } finally {
        closed += 1
      }
    }
    const archive = zipOf([{ name: 'a', size: 10_000_000, mtime: 0 }], () => Promise.resolve(content()), crc32)
    for (let piece = 0; piece < 10; piece++) await archive.next()
    await archive.return(undefined)
    expect([closed, (await archive.next()).done]).toEqual([1, true])
  })
})
