import { describe, expect, onTestFinished, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/base/clock.ts'
import { Busy } from '../../src/base/errors.ts'
import { openS3, type S3Tuning } from '../../src/storage/contents/blobs/s3.ts'
import { bytesOf, chunked, sha256Of } from '../support/contents.ts'
import { s3OfFile } from '../support/s3.ts'
import { gate, lineOfTest, type Asked } from '../support/s3-line.ts'
import { folderOfTest } from '../support/server.ts'

// Whoever stores and whoever removes are processes of their own here, each with its own way to the store, so that a test
// can hold the one at any step while the other goes on.

const server = s3OfFile()
const content = bytesOf(1_000)
const sha256 = sha256Of(content)
const key = `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`
const marker = `doomed/${sha256}/`

/** Steps of a process, as requests. */
const sends = ({ method, url }: Asked) => method === 'PUT' && url.includes(key)
const looks = ({ method, url }: Asked) => method === 'HEAD' && url.includes(key)
const looksForMarkers = ({ method, url }: Asked) => method === 'GET' && url.includes('doomed')
const marks = ({ method, url }: Asked) => method === 'PUT' && url.includes(marker)
const deletes = ({ method, url }: Asked) => method === 'DELETE' && url.includes(key)
const unmarks = ({ method, url }: Asked) => method === 'DELETE' && url.includes(marker)

/** A bucket that holds the content, untouched for two days. */
async function world() {
  const bucket = await server.bucket()
  const scratch = await folderOfTest()

  async function open(tuning: Partial<S3Tuning> = {}) {
    const line = await lineOfTest(bucket.endpoint)
    const place = bucket.place({ endpoint: line.url })
    const store = await openS3(place, scratch, { tries: 3, pause: 2, ...tuning })
    onTestFinished(() => store.close())
    return {
      line,
      store,
      count: (step: (asked: Asked) => boolean) => line.asked.filter(step).length,
      put: () => store.put(chunked(content, 500) as unknown as AsyncIterable<Uint8Array>, Infinity),
      remove: (before = Date.now() - DAY) => store.remove(sha256, before),
      /** Stops the n-th time at a step until it is let go on. */
      holdAt(step: (asked: Asked) => boolean, time = 1) {
        const held = gate()
        let times = 0
        line.decide(async (asked) => {
          if (step(asked) && (times += 1) === time) await held.pass()
        })
        return held
      },
    }
  }

  const hold = { sha256, size: content.length }
  await bucket.write(key, content.toString('latin1'))
  await bucket.age(key, Date.now() - 2 * DAY)
  return { bucket, open, hold, objects: bucket.objects }
}

/** Two processes, of which one removes the content and is held the n-th time it comes to a step. */
async function removalHeldAt(step: (asked: Asked) => boolean, time?: number) {
  const { open, objects } = await world()
  const [remover, sender] = [await open(), await open()]
  const held = remover.holdAt(step, time)
  const removing = remover.remove()
  await held.reached
  return { remover, sender, held, removing, objects }
}

/** Resolves when a line has heard another request of a kind than it has until now. */
function heard(each: { line: { asked: Asked[] } }, step: (asked: Asked) => boolean): Promise<void> {
  const before = each.line.asked.filter(step).length
  return expect.poll(() => each.line.asked.filter(step).length, { interval: 5 }).toBeGreaterThan(before)
}

describe('a content of an S3 store that is stored while it is removed', () => {
  test('between the look at its age and the deletion is sent again', async () => {
    const { sender, held, removing, objects } = await removalHeldAt(deletes)
    const putting = sender.put()
    await heard(sender, looksForMarkers)
    expect(sender.count(looks)).toBe(0)
    held.open()
    expect(await removing).toBe(true)
    await putting
    expect([sender.count(sends), await objects()]).toEqual([2, [key]])
    expect((await sender.store.read(sha256).toArray()).join('')).toBe(content.toString())
  })

  test('after the deletion, before the marker is gone, waits for that', async () => {
    const { sender, held, removing, objects } = await removalHeldAt(unmarks)
    const putting = sender.put()
    await heard(sender, looksForMarkers)
    expect(sender.count(looks)).toBe(0)
    held.open()
    expect(await removing).toBe(true)
    await putting
    expect([sender.count(sends), await objects()]).toEqual([1, [key]])
  })

  test('between the marker and the look at its age is found young', async () => {
    const { remover, sender, held, removing, objects } = await removalHeldAt(looks, 2)
    const putting = sender.put()
    await heard(sender, looksForMarkers)
    held.open()
    expect(await removing).toBe(false)
    await putting
    expect([remover.count(deletes), sender.count(sends), await objects()]).toEqual([0, 1, [key]])
  })

  test('before the marker is found young', async () => {
    const { remover, sender, held, removing, objects } = await removalHeldAt(marks)
    await sender.put()
    held.open()
    expect(await removing).toBe(false)
    expect([remover.count(deletes), sender.count(sends), await objects()]).toEqual([0, 1, [key]])
  })

  test.each([
    ['looks for markers', looksForMarkers],
    ['looks whether it is there', looks],
  ])('stays when the removal comes before whoever stored it %s', async (_, step) => {
    const { open, objects } = await world()
    const [remover, sender] = [await open(), await open()]
    const atMark = remover.holdAt(marks)
    const held = sender.holdAt(step)
    const removing = remover.remove()
    await atMark.reached
    const putting = sender.put()
    await held.reached
    atMark.open()
    expect(await removing).toBe(false)
    held.open()
    await putting
    expect([sender.count(sends), await objects()]).toEqual([1, [key]])
  })

  test('is sent again when the removal was over before its markers are looked for', async () => {
    const { open, objects } = await world()
    const [remover, sender] = [await open(), await open()]
    const atDeletion = remover.holdAt(deletes)
    const removing = remover.remove()
    await atDeletion.reached
    const held = sender.holdAt(looksForMarkers)
    const putting = sender.put()
    await held.reached
    atDeletion.open()
    expect(await removing).toBe(true)
    held.open()
    await putting
    expect([sender.count(sends), await objects()]).toEqual([2, [key]])
  })

  test('stays when two remove it, of whom one is over before the other', async () => {
    const { open, objects } = await world()
    const [slow, quick, sender] = [await open(), await open(), await open()]
    const held = slow.holdAt(deletes)
    const removing = slow.remove()
    await held.reached
    expect(await quick.remove()).toBe(true)
    const putting = sender.put()
    await heard(sender, looksForMarkers)
    expect(sender.count(looks)).toBe(0)
    held.open()
    await removing
    await putting
    expect([sender.count(sends), await objects()]).toEqual([2, [key]])
  })

  test('is given up when it is removed each time', async () => {
    const { open, bucket } = await world()
    const [sender, other] = [await open(), await open()]
    sender.line.decide(async (asked) => {
      if (!looksForMarkers(asked)) return
      await bucket.age(key, 0)
      await other.remove()
    })
    await expect(sender.put()).rejects.toThrow('loses what was sent to it')
    expect(sender.count(sends)).toBe(5)
  })
})

describe('the marker of a removal', () => {
  test('is taken away by whoever stores once nobody can be behind it, and the content is sent again', async () => {
    const { bucket, open, objects } = await world()
    await bucket.write(`${marker}0123456789abcdef`, '')
    await bucket.age(`${marker}0123456789abcdef`, Date.now() - 10 * MINUTE - 2_000)
    const sender = await open()
    await sender.put()
    expect([sender.count(sends), await objects()]).toEqual([2, [key]])
  })

  test('is waited for until then, but not for ever', async () => {
    const { bucket, open, objects } = await world()
    const name = `${marker}0123456789abcdef`
    await bucket.write(name, '')
    await bucket.age(name, Date.now() - 9 * MINUTE)
    const sender = await open({ checks: 2 })
    await expect(sender.put()).rejects.toThrow(Busy)
    expect([sender.count(looksForMarkers), await objects()]).toEqual([3, [key, name].sort()])
  })

  test('stays when nobody knows how the deletion ended', async () => {
    const { bucket, open, objects } = await world()
    const [remover, sender] = [await open(), await open({ checks: 1 })]
    remover.line.decide((asked) => (deletes(asked) ? { loseAnswer: true } : undefined))
    await expect(remover.remove()).rejects.toThrow(Busy)
    const [name] = await objects()
    expect([remover.count(deletes), name]).toEqual([1, expect.stringContaining(marker)])
    await expect(sender.put()).rejects.toThrow(Busy)
    await bucket.age(name!, Date.now() - 11 * MINUTE)
    await sender.put()
    expect(await objects()).toEqual([key])
  })

  test('goes when the deletion was refused, and one that was turned away is asked for again', async () => {
    const { open, objects } = await world()
    const remover = await open()
    remover.line.decide((asked) => (deletes(asked) ? { answer: { status: 403, code: 'AccessDenied' } } : undefined))
    await expect(remover.remove()).rejects.toThrow('denies access')
    expect(await objects()).toEqual([key])
    let times = 0
    remover.line.decide((asked) =>
      deletes(asked) && (times += 1) < 3 ? { answer: { status: 503, code: 'SlowDown' } } : undefined,
    )
    expect(await remover.remove()).toBe(true)
    expect([times, await objects()]).toEqual([3, []])
  })

  test('goes without a deletion when the look came more than a minute later', async () => {
    const { open, objects } = await world()
    const remover = await open()
    const early = new Date(Date.now() - MINUTE - 2_000).toUTCString()
    remover.line.decide((asked) => (marks(asked) ? { headers: { date: early } } : undefined))
    expect(await remover.remove()).toBe(false)
    expect([remover.count(deletes), await objects()]).toEqual([0, [key]])
  })

  test('protects from a deletion that was held up: the store refuses it', async () => {
    const { open, objects } = await world()
    const remover = await open()
    const early = new Date(Date.now() - MINUTE - 2_000).toUTCString()
    remover.line.decide((asked) => (marks(asked) || looks(asked) ? { headers: { date: early } } : undefined))
    expect(await remover.remove()).toBe(false)
    expect([remover.count(deletes), await objects()]).toEqual([1, [key]])
  })
})

describe('a store whose clock is another', () => {
  const shifted = (age: number, by: number) => ({
    headers: {
      date: new Date(Date.now() + by).toUTCString(),
      'last-modified': new Date(Date.now() + by - age).toUTCString(),
    },
  })

  // A deletion that the store allowed three hours ago has expired for the server behind it, whose clock is this machine's.
  test.each([
    ['three hours ahead', 3 * HOUR, 2 * HOUR, true],
    ['three hours ahead', 3 * HOUR, HOUR / 2, false],
    ['three hours behind', -3 * HOUR, 2 * HOUR, false],
    ['three hours behind', -3 * HOUR, HOUR / 2, false],
  ])(
    '%s (%i ms) is asked to delete what is older than an hour by its own: %i ms, %s',
    async (_, by, age, isRemoved) => {
      const { open } = await world()
      const remover = await open()
      remover.line.decide((asked) => (looks(asked) ? shifted(age, by) : marks(asked) ? shifted(0, by) : undefined))
      expect(await remover.remove(Date.now() - HOUR)).toBe(isRemoved)
      expect(remover.count(deletes)).toBe(age > HOUR ? 1 : 0)
    },
  )

  test('takes nothing for older than it is by a part of a second', async () => {
    const { open, bucket } = await world()
    const remover = await open()
    const touched = Math.floor(Date.now() / 1_000) * 1_000 - HOUR + 999
    await bucket.age(key, touched)
    expect(await remover.remove(touched)).toBe(false)
    expect(remover.count(marks)).toBe(0)
  })

  test('and says no time at all removes nothing', async () => {
    const { open } = await world()
    const remover = await open()
    remover.line.decide((asked) => (looks(asked) ? { headers: { 'last-modified': 'today' } } : undefined))
    expect(await remover.remove(Infinity)).toBe(false)
  })
})
