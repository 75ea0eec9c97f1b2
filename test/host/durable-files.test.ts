import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { streamDurably, syncFolder, writeDurably } from '../../src/host/durable-files.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-durable-'))
  onTestFinished(() => rm(folder, { recursive: true }))
})

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

test('writes a new file with exactly the mode asked for, whatever the umask', async () => {
  const before = process.umask(0o077)
  onTestFinished(() => void process.umask(before))
  const path = join(folder, 'open')
  await writeDurably(path, 'text', 0o644)
  expect(await readFile(path, 'utf8')).toBe('text')
  expect(await modeOf(path)).toBe(0o644)
})

test('is private where no mode is named', async () => {
  await writeDurably(join(folder, 'secret'), new Uint8Array([1, 2]))
  expect(await modeOf(join(folder, 'secret'))).toBe(0o600)
})

test('replaces the file, and not what a link of that name points to', async () => {
  const target = join(folder, 'target')
  await writeFile(target, 'untouched')
  await symlink(target, join(folder, 'link'))
  await writeDurably(join(folder, 'link'), 'new')
  expect(await readFile(target, 'utf8')).toBe('untouched')
  expect(await readFile(join(folder, 'link'), 'utf8')).toBe('new')
})

test('leaves nothing behind when it fails', async () => {
  await mkdir(join(folder, 'taken', 'inside'), { recursive: true })
  await expect(writeDurably(join(folder, 'taken'), 'text')).rejects.toMatchObject({ code: 'EISDIR' })
  expect(await readdir(folder)).toEqual(['taken'])
  await expect(writeDurably(join(folder, 'missing', 'file'), 'text')).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a stream becomes a file with its time, and the mode of a new file', async () => {
  const path = join(folder, 'film')
  await streamDurably(path, pieces('one ', 'two'), { replace: false, mtime: 1_700_000_000 })
  expect(await readFile(path, 'utf8')).toBe('one two')
  expect((await stat(path)).mtimeMs).toBe(1_700_000_000_000)
  expect(await modeOf(path)).toBe(0o666 & ~process.umask())
})

test('a stream that breaks changes nothing', async () => {
  const path = join(folder, 'kept')
  await writeFile(path, 'old')
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half')
    throw new Error('cut')
  }
  await expect(streamDurably(path, broken(), { replace: true })).rejects.toThrow('cut')
  expect(await readFile(path, 'utf8')).toBe('old')
  expect(await readdir(folder)).toEqual(['kept'])
})

test('a stream replaces only when told so, even what appeared while it ran', async () => {
  const path = join(folder, 'late')
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('new')
    await writeFile(path, 'somebody was faster')
  }
  await expect(streamDurably(path, slow(), { replace: false })).rejects.toMatchObject({ code: 'EEXIST' })
  expect(await readFile(path, 'utf8')).toBe('somebody was faster')
  expect(await readdir(folder)).toEqual(['late'])

  await chmod(path, 0o640)
  await streamDurably(path, pieces('replaced'), { replace: true, mode: 0o640 })
  expect(await readFile(path, 'utf8')).toBe('replaced')
  expect(await modeOf(path)).toBe(0o640)
})

test('flushing a folder fails when there is none', async () => {
  await syncFolder(folder)
  await expect(syncFolder(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' })
})
