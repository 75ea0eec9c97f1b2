import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { MultipartFile, MultipartValue } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ByteGatherer } from '../base/byte-gatherer.ts'
import { badRequest, fault } from '../contract/errors.ts'
import type { Access } from './access.ts'
import { sendContinue } from './expect-continue.ts'
import type { Incoming } from './handle.ts'

const FIELDS = { files: 1, fields: 10, fieldNameSize: 1_024, fieldSize: 8_192, parts: 12, headerPairs: 50 } as const

/** Largest body that is collected in memory, in bytes. */
const SMALL = 64 * 1024

/** Lets the routes of this scope receive bytes: any content type as it comes, and files inside multipart/form-data. */
export async function acceptBytes(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  const { default: multipart } = await import('@fastify/multipart')
  // Names as they came: what looks like a path is refused by whoever uses it, never shortened to something else.
  await app.register(multipart, {
    limits: { ...FIELDS, fileSize: Infinity },
    throwFileSizeLimit: false,
    preservePath: true,
  })
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** The bytes of a request: its raw body, or the part `file` of a multipart body. */
export async function incomingOf(request: FastifyRequest): Promise<Incoming> {
  if (request.isMultipart()) return multipartFile(request)
  const announced = request.headers['content-length']
  const length = announced === undefined ? undefined : Number(announced)
  const isSmall = length !== undefined && length <= SMALL
  return {
    body: isSmall ? inOnePiece(request.raw) : inPieces(request.raw),
    length,
    early: {},
    filename: undefined,
    fields: () => Promise.resolve({}),
    drop: () => void request.raw.resume(),
  }
}

/**
 * A body as it arrives. When it is given up before its end, the rest is read and dropped: a client hears the answer only
 * after it has said everything, and until then its connection could not be closed or used again.
 */
async function* inPieces(stream: Readable): AsyncGenerator<Buffer> {
  if (stream instanceof IncomingMessage) sendContinue(stream)
  try {
    yield* stream.iterator({ destroyOnReturn: false })
  } finally {
    stream.resume()
  }
}

/** A body that fits in memory, as one piece: collecting it costs much less than iterating over the stream. */
async function* inOnePiece(stream: IncomingMessage): AsyncGenerator<Buffer> {
  sendContinue(stream)
  const gathered = new ByteGatherer()
  await new Promise<void>((resolve, reject) => {
    stream.on('data', (piece: Buffer) => gathered.add(piece))
    stream.on('end', resolve)
    stream.on('error', reject)
    stream.on('close', () => reject(new Error('The client hung up before the end of the body.')))
  })
  yield Buffer.concat(gathered.take())
}

/** What a multipart parser yields; a body that makes no sense is the caller's mistake, unless the caller just hung up. */
async function* understood<T>(request: FastifyRequest, parse: () => AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* parse()
  } catch (error) {
    const hungUp = request.raw.destroyed && !request.raw.complete
    throw hungUp ? error : fault('bad_request', { text: 'The multipart body cannot be read.' })
  }
}

async function multipartFile(request: FastifyRequest): Promise<Incoming> {
  sendContinue(request.raw)
  const parts = understood(request, () => request.parts())
  const fields: Record<string, string> = {}
  /** Reads fields up to the next file, or to the end. */
  async function nextFile(): Promise<MultipartFile | undefined> {
    for (;;) {
      const next: IteratorResult<MultipartFile | MultipartValue> = await parts.next()
      if (next.done) return undefined
      if (next.value.type === 'file') return next.value
      fields[next.value.fieldname] = String(next.value.value)
    }
  }
  const part = await nextFile()
  if (part?.fieldname !== 'file') {
    part?.file.resume()
    throw badRequest('file', 'is missing: the multipart body needs a part of that name')
  }
  return {
    body: understood(request, () => inPieces(part.file)),
    length: undefined,
    early: { ...fields },
    filename: part.filename,
    async fields() {
      if (await nextFile()) throw badRequest('file', 'is given more than once')
      return fields
    },
    drop: () => void part.file.resume(),
  }
}

/** How often the sender of a long body is looked at while it arrives, ms. */
const LOOK_EVERY_MS = 1_000

/** The same bytes, which end with a refusal when the sender's access ends before them. */
export function heldTo(access: Access | undefined, incoming: Incoming): Incoming {
  if (!access) return incoming
  async function* looking(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      await access!.recheck(LOOK_EVERY_MS)
      yield piece
    }
    await access!.recheck()
  }
  return {
    ...incoming,
    body: looking(incoming.body),
    async fields() {
      const fields = await incoming.fields()
      await access.recheck()
      return fields
    },
  }
}
