import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { MultipartFile, MultipartValue } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ByteBuffer } from '../base/byte-buffer.ts'
import { badRequest, fault } from '../contract/errors.ts'
import { RECHECK_TOLERANCE_MS } from './access.ts'
import { sendContinue } from './expect-continue.ts'
import type { Admitted } from './guard.ts'
import type { Payload } from './handler.ts'

const MULTIPART_LIMITS = {
  files: 1,
  fields: 10,
  fieldNameSize: 1_024,
  fieldSize: 8_192,
  parts: 12,
  headerPairs: 50,
} as const

/** Largest body in bytes that is buffered in memory. */
const BUFFERED_BYTES = 64 * 1024

/** Accepts bytes of any content type, and files in multipart/form-data, in a Fastify scope. */
export async function acceptPayloads(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  const { default: multipart } = await import('@fastify/multipart')
  // File names are kept as sent, so that paths in them are refused instead of shortened.
  await app.register(multipart, {
    limits: { ...MULTIPART_LIMITS, fileSize: Infinity },
    throwFileSizeLimit: false,
    preservePath: true,
  })
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** The bytes of a request: its raw body, or the part `file` of a multipart body. */
export async function readPayload(request: FastifyRequest): Promise<Payload> {
  if (request.isMultipart()) return multipartFile(request)
  const contentLength = request.headers['content-length']
  const length = contentLength === undefined ? undefined : Number(contentLength)
  const isSmall = length !== undefined && length <= BUFFERED_BYTES
  return {
    body: isSmall ? readWhole(request.raw) : readChunks(request.raw),
    length,
    earlyFields: {},
    filename: undefined,
    fields: () => Promise.resolve({}),
    drain: () => void request.raw.resume(),
  }
}

/**
 * Yields a body as it arrives. If the consumer stops early, the rest is discarded: clients read the response only after
 * they have sent everything, and the connection stays usable.
 */
async function* readChunks(stream: Readable): AsyncGenerator<Buffer> {
  if (stream instanceof IncomingMessage) sendContinue(stream)
  try {
    yield* stream.iterator({ destroyOnReturn: false })
  } finally {
    stream.resume()
  }
}

/** Yields a small body in one piece, which is much cheaper than iterating over the stream. */
async function* readWhole(stream: IncomingMessage): AsyncGenerator<Buffer> {
  sendContinue(stream)
  const buffer = new ByteBuffer()
  await new Promise<void>((resolve, reject) => {
    stream.on('data', (piece: Buffer) => buffer.add(piece))
    stream.on('end', resolve)
    stream.on('error', reject)
    stream.on('close', () => reject(new Error('The client hung up before the end of the body.')))
  })
  yield Buffer.concat(buffer.take())
}

/** Turns errors of the multipart parser into `bad_request`, unless the client disconnected. */
async function* asBadRequest<T>(request: FastifyRequest, parse: () => AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* parse()
  } catch (error) {
    const isAborted = request.raw.destroyed && !request.raw.complete
    throw isAborted ? error : fault('bad_request', { text: 'The multipart body cannot be read.' })
  }
}

async function multipartFile(request: FastifyRequest): Promise<Payload> {
  sendContinue(request.raw)
  const parts = asBadRequest(request, () => request.parts())
  const fields: Record<string, string> = {}
  /** Collects fields up to the next file or the end. */
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
    body: asBadRequest(request, () => readChunks(part.file)),
    length: undefined,
    earlyFields: { ...fields },
    filename: part.filename,
    async fields() {
      if (await nextFile()) throw badRequest('file', 'is given more than once')
      return fields
    },
    drain: () => void part.file.resume(),
  }
}

/** Interval in ms of access checks while a body arrives. */
const RECHECK_INTERVAL_MS = 1_000

/** Ends the body with a fault as soon as the sender's access ends. */
export function withAccessCheck(
  { access, isBodyLate }: Pick<Admitted, 'access' | 'isBodyLate'>,
  payload: Payload,
): Payload {
  if (!access) return payload
  // A body that had arrived when its sender was identified cannot outlive the access by more.
  const tolerance = () => (isBodyLate() ? 0 : RECHECK_TOLERANCE_MS)
  async function* checked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      await access!.recheck(RECHECK_INTERVAL_MS)
      yield piece
    }
    await access!.recheck(tolerance())
  }
  return {
    ...payload,
    body: checked(payload.body),
    async fields() {
      const fields = await payload.fields()
      await access.recheck(tolerance())
      return fields
    },
  }
}
