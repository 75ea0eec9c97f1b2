import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { parseS3Location, type S3Location } from '../../src/storage/contents/blobs/s3-location.ts'
import { startS3, type Child } from './child.ts'
import { filesBelow } from './contents.ts'
import { temporaryFolder } from './server.ts'

/** Credentials of the S3 server. */
export const s3Keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

/** The same as environment variables. */
export const s3Environment = {
  AWS_ACCESS_KEY_ID: s3Keys.accessKeyId,
  AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey,
} as const

export interface S3Bucket {
  name: string
  /** Address of the bucket or of a prefix in it, at the server or at a proxy. */
  address(options?: { prefix?: string; endpoint?: string }): string
  place(options?: { prefix?: string; endpoint?: string }): S3Location
  /** URL of the server. */
  endpoint: string
  /** Names of all objects. */
  objects(): Promise<string[]>
  /** Files of incomplete multipart uploads. */
  uploads(): Promise<string[]>
  /** Stores an object as another program would. */
  write(key: string, content: string): Promise<void>
  /** Sets the time an object was stored, epoch ms. */
  age(key: string, modified: number): Promise<void>
  remove(): Promise<void>
  /** Removes the bucket with its contents; the result restores it. */
  hide(): Promise<() => Promise<void>>
}

export interface S3Server {
  /** A bucket by name, created if necessary; a new one without a name. */
  bucket(name?: string): Promise<S3Bucket>
  /** What keys may not do from now on. Only after `bucket`. */
  deny(what: 'nothing' | 'removal' | 'all'): Promise<void>
}

const OBJECT = '._S3rver_object'

/** An S3 server for the tests of a file, started on first use. */
export function s3OfFile(): S3Server {
  let started: Promise<{ folder: string; child: Child }> | undefined
  let buckets = 0
  const start = async () => {
    const folder = await temporaryFolder()
    return { folder, child: await startS3(folder) }
  }
  afterAll(async () => {
    if (!started) return
    const { folder, child } = await started
    await child.end()
    await rm(folder, { recursive: true, force: true })
  })

  return {
    async deny(what) {
      const { folder } = await started!
      for (const kind of ['removal', 'all']) {
        const file = join(folder, `deny-${kind}`)
        await (what === kind ? writeFile(file, '') : rm(file, { force: true }))
      }
    },
    async bucket(name = `bucket-${(buckets += 1)}`) {
      started ??= start()
      const { folder, child } = await started
      const inside = join(folder, 'buckets', name)
      await mkdir(inside, { recursive: true })
      const pathOf = (key: string) => join(inside, `${key}${OBJECT}`)
      const address: S3Bucket['address'] = ({ prefix = '', endpoint = child.ready } = {}) =>
        `s3://${name}/${prefix}?endpoint=${endpoint}`
      const files = () => filesBelow(inside)
      return {
        name,
        address,
        place: (options) => parseS3Location(address(options), s3Keys),
        endpoint: child.ready,
        objects: async () =>
          (await files()).filter((path) => path.endsWith(OBJECT)).map((path) => path.slice(0, -OBJECT.length)),
        uploads: async () => (await files()).filter((path) => path.includes('_S3rver_uploads')),
        async write(key, content) {
          await mkdir(dirname(pathOf(key)), { recursive: true })
          await writeFile(pathOf(key), content)
        },
        age: (key, modified) => utimes(pathOf(key), modified / 1_000, modified / 1_000),
        remove: () => rm(inside, { recursive: true }),
        async hide() {
          const aside = join(folder, `${name}-aside`)
          await rename(inside, aside)
          return () => rename(aside, inside)
        },
      }
    },
  }
}
