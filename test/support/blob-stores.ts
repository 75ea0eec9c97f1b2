import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { BlobStore } from '../../src/storage/contents/blobs/blobs.ts'
import { openDisk } from '../../src/storage/contents/blobs/disk.ts'
import { openS3 } from '../../src/storage/contents/blobs/s3.ts'
import { filesBelow, sha256Of } from './contents.ts'
import type { S3Server } from './s3.ts'

export interface OpenedStore {
  store: BlobStore
  /** Sets the last use of a content to a time. */
  age(sha256: string, touched: number): Promise<void>
  /** Stored items besides complete contents. */
  leftovers(): Promise<string[]>
}

const keyOf = (sha256: string) => `${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`

export async function openStoreOnDisk(folder: string): Promise<OpenedStore> {
  const store = await openDisk(folder)
  onTestFinished(() => store.close())
  return {
    store,
    age: (sha256, touched) => utimes(join(folder, keyOf(sha256)), touched / 1_000, touched / 1_000),
    leftovers: () => filesBelow(join(folder, 'tmp')),
  }
}

/** A store in a bucket, with a folder for temporary files. */
async function openStoreOnS3(server: S3Server, folder: string): Promise<OpenedStore> {
  const bucket = await server.bucket(sha256Of(folder).slice(0, 32))
  const store = await openS3(bucket.place(), folder, { pause: 5 })
  onTestFinished(() => store.close())
  return {
    store,
    age: (sha256, touched) => bucket.age(keyOf(sha256), touched),
    async leftovers() {
      const markers = (await bucket.objects()).filter((key) => key.startsWith('doomed/'))
      return [...markers, ...(await bucket.uploads()), ...(await filesBelow(folder))]
    },
  }
}

/** Every kind of store with a function that opens one at a folder; the same folder opens the same store. */
export const everyStore = (server: S3Server): [string, (folder: string) => Promise<OpenedStore>][] => [
  ['disk', openStoreOnDisk],
  ['S3', (folder) => openStoreOnS3(server, folder)],
]
