import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { whileLocked } from '../../src/host/file-lock.ts'

let folder: string
let lock: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-lock-'))
  lock = join(folder, 'counter.lock')
  onTestFinished(() => rm(folder, { recursive: true }))
})

test('no two pieces of work run at once', async () => {
  const counter = join(folder, 'counter')
  await writeFile(counter, '0')
  const increment = () =>
    whileLocked(lock, async () => {
      const before = Number(await readFile(counter, 'utf8'))
      await new Promise((resolve) => setImmediate(resolve))
      await writeFile(counter, String(before + 1))
    })
  await Promise.all(Array.from({ length: 10 }, increment))
  expect(await readFile(counter, 'utf8')).toBe('10')
  expect(await readdir(folder)).toEqual(['counter'])
})

test('work that fails lets go of the lock', async () => {
  const failing = whileLocked(lock, async () => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  expect(await whileLocked(lock, async () => 'done')).toBe('done')
})

test('a lock that a killed process left behind is taken over', async () => {
  await writeFile(lock, '')
  const minuteAgo = Date.now() / 1_000 - 60
  await utimes(lock, minuteAgo, minuteAgo)
  expect(await whileLocked(lock, async () => 'done')).toBe('done')
  expect(await readdir(folder)).toEqual([])
})

test('a lock in a folder that is not there is an error', async () => {
  await expect(whileLocked(join(folder, 'missing', 'lock'), async () => 'done')).rejects.toMatchObject({
    code: 'ENOENT',
  })
})
