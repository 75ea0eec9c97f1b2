import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeThumbnailer } from '../../src/outside/thumbnailer.ts'
import { hasSharp, png, svgBomb } from '../support/pictures.ts'

const image = png(40, 30)

function thumbnailerOfTest(limits: Parameters<typeof makeThumbnailer>[0]) {
  const thumbnailer = makeThumbnailer({ processes: 1, ...limits })
  onTestFinished(() => thumbnailer.close())
  const make = (content = image, user = 1) =>
    thumbnailer.make({ user, read: () => Promise.resolve(content), size: content.length, edge: 128 })
  return { ...thumbnailer, make }
}

/** The process that decodes images. */
function decoder(): number | undefined {
  const children = readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('thumbnailProcess'))
}

describe.runIf(hasSharp && process.platform === 'linux')('the process that decodes images', () => {
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
    process.kill(second, 'SIGKILL')
    expect(await crashing).toBe('costly')
    expect(await make()).toBeInstanceOf(Buffer)
    const hungry = thumbnailerOfTest({ memory: 1, timeMs: 600_000 })
    expect(await hungry.make(Buffer.from(svgBomb()))).toBe('costly')
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
