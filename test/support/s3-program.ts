import { createHash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import S3rver from 's3rver'

// An S3 server for tests. It stores its buckets in FOLDER/buckets, prints `ready URL`, and ends when its input ends:
//
//   node s3-program.mjs FOLDER
//
// The package is made for experiments. This program adds guarantees of real stores: objects appear atomically, multipart
// uploads can be aborted, and a range may end with the first byte.

const folder = process.argv[2]!
const directory = join(folder, 'buckets')
await mkdir(directory, { recursive: true })
const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, vhostBuckets: false })
const { store } = server

store.putObject = async ({ bucket, key, content, metadata }) => {
  const arriving = join(await mkdtemp(join(folder, 'arriving-')), 'object')
  try {
    const hash = createHash('md5')
    let size = 0
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk)
        size += chunk.length
        done(null, chunk)
      },
    })
    await pipeline(content, measure, createWriteStream(arriving))
    const md5 = hash.digest('hex')
    const path = store.getResourcePath(bucket, key, 'object')
    await mkdir(dirname(path), { recursive: true })
    await rename(arriving, path)
    await store.putMetadata(bucket, key, metadata, md5)
    return { size, md5 }
  } finally {
    await rm(dirname(arriving), { recursive: true, force: true })
  }
}

store.deleteObject = async (bucket, key) => {
  for (const resource of ['object', 'object.md5', 'metadata.json'])
    await rm(store.getResourcePath(bucket, key, resource), { force: true })
}

const getObject = store.getObject.bind(store)
// The package treats the number zero as absent.
store.getObject = (bucket, key, options) =>
  getObject(bucket, key, options?.end === 0 ? { ...options, end: '0' } : options)

server.middleware.unshift(async (asked, next) => {
  // A key that may not remove anything, and one that may do nothing.
  const isRemoval = asked.method === 'DELETE' && asked.query['uploadId'] === undefined
  if (!existsSync(join(folder, isRemoval ? 'deny-removal' : 'deny-all'))) return next()
  asked.status = 403
  asked.type = 'application/xml'
  asked.body = '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'
})

server.middleware.unshift(async (asked, next) => {
  const id = asked.query['uploadId']
  if (asked.method !== 'DELETE' || id === undefined) return next()
  const bucket = asked.path.split('/')[1]!
  await rm(join(store.getResourcePath(bucket, undefined, 'uploads'), id), { recursive: true, force: true })
  asked.status = 204
})

const { port } = await server.run()
process.stdout.write(`ready http://127.0.0.1:${port}\n`)
process.stdin.resume().once('end', () => process.exit())
