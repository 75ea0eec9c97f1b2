import { expect, test } from 'vitest'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { bytesOf } from '../support/contents.ts'
import { s3Environment, s3OfFile } from '../support/s3.ts'
import { serverOfTest } from '../support/server.ts'

const s3 = s3OfFile()
const LARGE = bytesOf(200_000, 1)

test('while its bucket is gone a server asks clients to come back later, tells its log why, and goes on afterwards', async () => {
  const bucket = await s3.bucket()
  const server = await serverOfTest({ flags: { blobs: bucket.address() }, env: s3Environment })
  const ada = await server.account()
  expect((await ada.upload('/kept.bin', LARGE)).status).toBe(200)
  const bring = await bucket.hide()
  const refusals = [
    await ada.upload('/new.bin', bytesOf(200_000, 2)),
    await ada.call(syncFiles.actions.download, { path: '/kept.bin' }),
  ]
  for (const { status, headers, json } of refusals) {
    expect([status, json['code']]).toEqual([503, 'busy'])
    expect(headers.get('retry-after')).toBe('10')
    expect(json['error']).toMatch(/cannot reach its data/)
  }
  await bring()
  expect((await ada.upload('/new.bin', bytesOf(200_000, 2))).status).toBe(200)
  expect((await ada.call(syncFiles.actions.download, { path: '/kept.bin' })).bytes.equals(LARGE)).toBe(true)
})
