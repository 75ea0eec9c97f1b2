import { expect, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { bytesOf } from '../support/contents.ts'
import { lineOfTest } from '../support/s3-line.ts'
import { s3Environment, s3OfFile } from '../support/s3.ts'
import { serverOfTest } from '../support/server.ts'

const s3 = s3OfFile()
const LARGE = 200_000
/** Longest time that a proxy with usual settings waits, ms. */
const PROXY_PATIENCE = 60_000

/** Runs a request; its result, and how long it took, in ms. */
async function timed<T>(send: () => Promise<T>): Promise<{ result: T; took: number }> {
  const began = performance.now()
  const result = await send()
  return { result, took: performance.now() - began }
}

test('while its bucket is silent a server asks clients to come back later before a proxy gives it up', async () => {
  const bucket = await s3.bucket()
  const line = await lineOfTest(bucket.endpoint)
  const server = await serverOfTest({ flags: { blobs: bucket.address({ endpoint: line.url }) }, env: s3Environment })
  const ada = await server.account()
  const bob = await server.account()
  await ada.put('/kept.bin', bytesOf(LARGE, 1))
  for (let version = 2; version < 6; version += 1) await bob.put('/often.bin', bytesOf(LARGE, version))
  // From now on Bob has far too many versions, which the bucket does not remove.
  await server.database.write('instance', (tx) =>
    tx.q.updateTable('users').set({ quota_bytes: LARGE }).where('id', '=', bob.id).execute(),
  )
  line.decide(() => ({ silence: true }))
  const [upload, download, overwrite] = await Promise.all([
    timed(() => ada.upload('/new.bin', bytesOf(LARGE, 9))),
    timed(() => ada.call(syncFiles.actions.download, { path: '/kept.bin' })),
    timed(() => bob.upload('/often.bin', 'small')),
  ])
  for (const { result, took } of [upload, download]) {
    expect([result.status, result.json['code']]).toEqual([503, 'busy'])
    expect(Number(result.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(took).toBeLessThan(PROXY_PATIENCE)
  }
  // What the account released is removed in the background.
  expect(overwrite.result.status).toBe(200)
  expect(overwrite.took).toBeLessThan(upload.took / 2)
  line.decide(() => undefined)
  expect((await ada.upload('/new.bin', bytesOf(LARGE, 9))).status).toBe(200)
})
