import { spawnSync } from 'node:child_process'
import { open, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hashInline, type HashJob } from '../../src/host/hash-job.ts'
import { makeHasher } from '../../src/host/hasher.ts'
import { bytesOf, sha256Of } from '../support/contents.ts'
import { folderOfTest } from '../support/server.ts'

const MIB = 1 << 20

async function fileOf(content: Uint8Array): Promise<FileHandle> {
  const path = join(await folderOfTest(), 'file')
  await writeFile(path, content)
  const file = await open(path)
  onTestFinished(() => file.close())
  return file
}

function onThread(): HashJob {
  const hasher = makeHasher()
  onTestFinished(() => hasher.close())
  return hasher.start()
}

for (const [where, begin] of [
  ['a thread', onThread],
  ['this one', hashInline],
] as const) {
  describe(`on ${where}`, () => {
    test('bytes are hashed in the order they are given, also when nobody waits in between', async () => {
      const job = begin()
      const parts = [bytesOf(MIB, 1), bytesOf(3, 2), bytesOf(0), bytesOf(70_000, 3)].map((part) => {
        const memory = job.memory(part.length)
        memory.set(part)
        return memory
      })
      await Promise.all(parts.map((part) => job.update(part)))
      expect(await job.digest()).toBe(sha256Of(Buffer.concat(parts)))
    })

    test('a file is hashed up to where it is said to stand', async () => {
      const content = bytesOf(3 * MIB + 5)
      const file = await fileOf(content)
      const job = begin()
      await Promise.all([1, MIB, MIB, 2 * MIB + 7].map((upTo) => job.advance(file, upTo)))
      expect(await job.digest()).toBe(sha256Of(content.subarray(0, 2 * MIB + 7)))
    })

    test('a file that ends too early has no checksum', async () => {
      const file = await fileOf(bytesOf(100))
      const job = begin()
      await expect(job.advance(file, 101)).rejects.toThrow('ends at 100 instead of 101')
      await expect(job.digest()).rejects.toThrow('ends at 100 instead of 101')
    })

    test('nothing at all has a checksum too', async () => {
      expect(await begin().digest()).toBe(sha256Of(''))
    })
  })
}

test('several jobs do not get into each other', async () => {
  const hasher = makeHasher()
  onTestFinished(() => hasher.close())
  const contents = [1, 2, 3].map((seed) => bytesOf(MIB, seed))
  const jobs = contents.map(() => hasher.start())
  for (let at = 0; at < MIB; at += MIB / 4)
    for (const [index, job] of jobs.entries()) void job.update(contents[index]!.subarray(at, at + MIB / 4))
  expect(await Promise.all(jobs.map((job) => job.digest()))).toEqual(contents.map(sha256Of))
})

test('a job whose thread has ended fails, and does not begin anew on another', async () => {
  const hasher = makeHasher()
  onTestFinished(() => hasher.close())
  const job = hasher.start()
  await job.update(bytesOf(10))
  const late = hasher.start()
  const asked = Promise.allSettled([late.update(bytesOf(64 * MIB)), late.digest()])
  await hasher.close()
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(job.digest()).rejects.toThrow('has ended')
  const next = hasher.start()
  await next.update(bytesOf(10))
  expect(await next.digest()).toBe(sha256Of(bytesOf(10)))
})

/** Bundles a program that has `makeHasher`, and returns what runs it to its end. */
async function programOf(contents: string) {
  const program = join(await folderOfTest(), 'program.mjs')
  await build({
    stdin: {
      contents: `import { makeHasher } from './hasher.ts'\n${contents}`,
      resolveDir: fileURLToPath(new URL('../../src/host', import.meta.url)),
      loader: 'ts',
    },
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  return () => {
    const { status, stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 120_000 })
    return { status, stdout: stdout.trim() }
  }
}

test('a process waits for a checksum it asked for, and then ends by itself', async () => {
  const run = await programOf(`
    const job = makeHasher().start()
    for (let at = 0; at < 64; at += 1) void job.update(job.memory(1 << 20))
    console.log(await job.digest())`)
  expect(run()).toEqual({ status: 0, stdout: sha256Of(Buffer.alloc(64 * MIB)) })
})

test('a process that closes its hasher waits for that, also when an answer comes in between', async () => {
  const run = await programOf(`
    const hasher = makeHasher()
    const job = hasher.start()
    await job.update(job.memory(10))
    void job.update(job.memory(10)).catch(() => undefined)
    // The answer has come, and nobody has heard it yet.
    for (const end = Date.now() + 30; Date.now() < end; );
    await hasher.close()
    console.log('closed')`)
  for (let time = 1; time <= 6; time += 1) expect(run()).toEqual({ status: 0, stdout: 'closed' })
})
