import { readdirSync, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Busy } from '../../src/base/errors.ts'
import { makeThumbnailer } from '../../src/outside/thumbnailer.ts'
import { hasSharp, png, svgBomb } from '../support/pictures.ts'

const image = png(40, 30)

function thumbnailerOfTest(limits: Parameters<typeof makeThumbnailer>[0]) {
  const thumbnailer = makeThumbnailer({ processes: 1, ...limits })
  onTestFinished(() => thumbnailer.close())
  const makeOf = (read: () => Promise<Readable | Buffer>, { size = image.length, user = 1 } = {}) =>
    thumbnailer.make({ user, read, size, edge: 128 })
  const make = (content = image, user = 1) => makeOf(() => Promise.resolve(content), { size: content.length, user })
  return { ...thumbnailer, make, makeOf }
}

/** The process that decodes images. */
function decoder(): number | undefined {
  const children = readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('thumbnailProcess'))
}

describe.runIf(hasSharp && process.platform === 'linux')('the process that decodes images', () => {
  // That of the test before.
  beforeEach(() => vi.waitUntil(() => decoder() === undefined))

  test('is replaced when it hangs, crashes or needs too much memory, and its image is refused', async () => {
    const { make } = thumbnailerOfTest({ timeMs: 1_000 })
    expect(await make()).toBeInstanceOf(Buffer)
    const first = decoder()!
    process.kill(first, 'SIGSTOP')
    expect(await make()).toBe('costly')
    expect(await make()).toBeInstanceOf(Buffer)
    const second = decoder()!
    expect(second).not.toBe(first)
    process.kill(second, 'SIGSTOP')
    const crashing = make()
    process.kill(second, 'SIGABRT')
    process.kill(second, 'SIGCONT')
    expect(await crashing).toBe('costly')
    expect(await make()).toBeInstanceOf(Buffer)
    const hungry = thumbnailerOfTest({ memory: 1, timeMs: 600_000 })
    expect(await hungry.make(Buffer.from(svgBomb()))).toBe('costly')
  })

  test('is replaced after an image that cannot be read, and no other image looks bad for it', async () => {
    const { make, makeOf } = thumbnailerOfTest({})
    const unreadable = [
      () => Promise.reject(new Error('EIO')),
      () =>
        Promise.resolve(
          Readable.from(
            (function* () {
              yield image.subarray(0, 9)
              throw new Error('EIO')
            })(),
          ),
        ),
    ]
    for (const read of unreadable) {
      const [failed, next] = await Promise.allSettled([makeOf(read), make()])
      expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'EIO' } })
      expect(next).toMatchObject({ status: 'fulfilled', value: expect.any(Buffer) as Buffer })
    }
  })

  test('that is killed from outside makes no image look bad', async () => {
    const { make } = thumbnailerOfTest({})
    await make()
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const pid = decoder()!
      process.kill(pid, 'SIGSTOP')
      const made = make()
      process.kill(pid, signal)
      process.kill(pid, 'SIGCONT')
      await expect(made).rejects.toThrow(Busy)
      expect(await make()).toBeInstanceOf(Buffer)
    }
  })

  test('is not killed for an image that was finished while its memory was measured', async () => {
    let memoryOf = () => Promise.resolve(0)
    const { make } = thumbnailerOfTest({ memoryOf: () => memoryOf() })
    await make()
    const first = decoder()!
    let finish = (_bytes: number) => {}
    const measuring = new Promise<void>((begun) => {
      memoryOf = () => (begun(), new Promise((resolve) => (finish = resolve)))
    })
    process.kill(first, 'SIGSTOP')
    const made = make()
    await measuring
    process.kill(first, 'SIGCONT')
    expect(await made).toBeInstanceOf(Buffer)
    finish(Infinity)
    expect(await make()).toBeInstanceOf(Buffer)
    expect(decoder()).toBe(first)
  })

  test('that the machine cannot start at the moment is started for a later image', async () => {
    const { make, isAvailable } = thumbnailerOfTest({})
    const { execPath } = process
    process.execPath = '/nowhere/node'
    try {
      await expect(make()).rejects.toThrow(Busy)
    } finally {
      process.execPath = execPath
    }
    expect(isAvailable()).toBe(true)
    expect(await make()).toBeInstanceOf(Buffer)
  })

  test('runs with low priority and no environment, and ends without work', async () => {
    const { make } = thumbnailerOfTest({ idleMs: 50 })
    await make()
    const pid = decoder()!
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('')
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[18]).toBe('10')
    await expect.poll(decoder, { timeout: 10_000 }).toBe(undefined)
    expect(await make()).toBeInstanceOf(Buffer)
  })

  test('serves accounts in turns, and refuses more than a number of waiting images', async () => {
    const { make } = thumbnailerOfTest({ waitingOfOne: 3 })
    const order: number[] = []
    const all = [1, 1, 1, 1, 2].map((user) => make(image, user).then(() => order.push(user)))
    await expect(make()).rejects.toThrow('Too many')
    await Promise.all(all)
    expect(order).toEqual([1, 2, 1, 1, 1])
  })

  test('that cannot start makes no image look bad', async () => {
    const broken = thumbnailerOfTest({ sharp: '/nowhere/sharp.js' })
    await expect(broken.make()).rejects.toThrow('sharp could not be started')
    expect(broken.isAvailable()).toBe(false)
  })
})
