import { expect, onTestFinished, test, vi } from 'vitest'
import { MINUTE } from '../../../src/base/clock.ts'
import { ownIdentity } from '../../../src/host/process-identity.ts'
import { openBucket, putBytes } from '../../../src/storage/backups/bucket.ts'
import { LostLock, lockRepository, type LockKind } from '../../../src/storage/backups/lock.ts'
import { within } from '../../../src/storage/backups/repository-path.ts'
import { s3Keys, s3OfFile } from '../../support/s3.ts'

// A machine that sleeps renews nothing. Its steady clock stands still, so that only its other clock and that of the store tell.

const s3 = s3OfFile()

async function scene() {
  const bucket = await s3.bucket()
  const address = bucket.address()
  onTestFinished(openBucket(address, s3Keys))
  const folder = within(address, 'locks')
  const lock = (kind: LockKind) => lockRepository(folder, kind, 'svc test')
  const own = await lock('shared')
  /** As after a sleep of this length; `isRenewed` as after a clock that was set. */
  const sleep = async (time: number, { isRenewed = false } = {}) => {
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + time)
    if (!isRenewed) await bucket.age(`locks/${own.id}`, now - time)
  }
  const wake = () => vi.restoreAllMocks()
  onTestFinished(() => void wake())
  return { folder, lock, own, sleep, wake }
}

test('a lock that lapsed while the machine slept is lost, and stays lost', async () => {
  const { lock, own, sleep, wake } = await scene()
  await own.assertHeld()
  await sleep(11 * MINUTE)
  await expect(own.assertHeld()).rejects.toBeInstanceOf(LostLock)
  wake()
  await expect(own.assertHeld()).rejects.toBeInstanceOf(LostLock)
  const other = await lock('exclusive')
  await other.assertHeld()
  await other.release()
  await own.release()
})

test('a lock that did not lapse is renewed', async () => {
  const { lock, own, sleep, wake } = await scene()
  await sleep(6 * MINUTE)
  await own.assertHeld()
  wake()
  await expect(lock('exclusive')).rejects.toMatchObject({ exitCode: 6 })
})

test('a lock beside which an excluding one was taken is lost', async () => {
  const { folder, own, sleep } = await scene()
  await sleep(9 * MINUTE)
  const holder = { kind: 'exclusive', purpose: 'svc backup prune', host: 'elsewhere', pid: 1, began: '' }
  await putBytes(within(folder, 'f'.repeat(16)), Buffer.from(JSON.stringify(holder)))
  await expect(own.assertHeld()).rejects.toBeInstanceOf(LostLock)
})

test('a lock of a container with the same host name is respected', async () => {
  const { folder, lock, own } = await scene()
  await own.release()
  const holder = { kind: 'exclusive', purpose: 'x', ...ownIdentity(), pid: 2 ** 22 - 1, scope: 'a container' }
  await putBytes(within(folder, 'f'.repeat(16)), Buffer.from(JSON.stringify(holder)))
  await expect(lock('shared')).rejects.toThrow(`process ${holder.pid} on ${holder.host}`)
})

test('a clock that was set takes no lock away', async () => {
  const { lock, own, sleep, wake } = await scene()
  for (const time of [60 * MINUTE, -60 * MINUTE]) {
    await sleep(time, { isRenewed: true })
    await own.assertHeld()
    wake()
    await own.assertHeld()
  }
  await expect(lock('exclusive')).rejects.toMatchObject({ exitCode: 6 })
})

test('a lock whose object is gone is lost', async () => {
  const { folder, own, sleep } = await scene()
  await putBytes(within(folder, own.id), Buffer.alloc(0))
  await sleep(6 * MINUTE, { isRenewed: true })
  await expect(own.assertHeld()).rejects.toBeInstanceOf(LostLock)
})
