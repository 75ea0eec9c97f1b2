import { Readable } from 'node:stream'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Unavailable } from '../base/errors.ts'
import { fault, type Fault } from '../contract/errors.ts'
import type { AnyAction } from '../contract/contract.ts'
import type { Access } from './access.ts'
import { failureBody } from './failure-body.ts'
import { faultFromError } from './error-mapping.ts'
import type { ByteResponse } from './handler.ts'
import { serialize, hasSerializedLists, type JsonBody } from './json-serializer.ts'

/** JSON must not be sniffed as another type or cached. */
export const jsonHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
} as const

/** Builds the serializer of an action, which writes only fields that the contract declares. */
export function makeSerializer(action: AnyAction): (result: object) => JsonBody {
  const { properties = {}, required = [], ...rest } = action.result as { properties?: object; required?: string[] }
  const isEnvelope = (name: string) => name === 'ok' || name === 'success'
  // The envelope is constant, so it is serialized once; copying each result into one dominates the cost.
  const envelopeFields = Object.fromEntries(
    Object.keys(properties).flatMap((name) => (isEnvelope(name) ? [[name, true] as const] : [])),
  )
  const envelope = JSON.stringify(envelopeFields).slice(0, -1)
  const fields = Object.fromEntries(Object.entries(properties).filter(([name]) => !isEnvelope(name)))
  const build = (): ((result: object) => string) =>
    // Handlers of large responses already build them column by column; filtering again would double the cost.
    action.answers === 'large'
      ? JSON.stringify
      : fastJsonStringify({
          ...rest,
          properties: fields,
          required: required.filter((name) => !isEnvelope(name)),
        } as never)
  // Building takes a millisecond or two for each of more than a hundred actions, so a server starts without it.
  let stringify: ReturnType<typeof build> | undefined
  return (result) => {
    if (action.answers === 'large' && hasSerializedLists(result)) return serialize({ ...envelopeFields, ...result })
    stringify ??= build()
    const text = stringify(result)
    const separator = envelope.length > 1 && text.length > 2 ? ',' : ''
    return { body: envelope + separator + text.slice(1) }
  }
}

/** Sends a byte response, and aborts it when the caller's access ends. */
export function sendBytes(reply: FastifyReply, { status, headers, body }: ByteResponse, access?: Access): FastifyReply {
  if (body instanceof Readable) {
    if (access)
      body.once(
        'close',
        access.watch(() => body.destroy(fault('unauthorized'))),
      )
    // If the stream fails before its first byte, the error response must not carry these headers.
    body.once('error', () => {
      for (const name of Object.keys(headers)) void reply.removeHeader(name)
    })
  }
  return reply.code(status).headers(headers).send(body)
}

const byFastifyCode: Record<string, () => Fault> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => fault('too_large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => fault('unsupported_media_type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    fault('bad_request', { text: 'The body is not as long as Content-Length says.' }),
  FST_ERR_CTP_INVALID_JSON_BODY: () => fault('bad_request', { text: 'The body is not valid JSON.' }),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => fault('bad_request', { text: 'The body is empty.' }),
}

/** Also maps Fastify's errors; undefined for a bug, whose details are not sent. */
function faultFromRequestError(error: unknown): Fault | undefined {
  const known = faultFromError(error)
  if (known) return known
  const { code = '', statusCode } = error as Partial<FastifyError>
  if (byFastifyCode[code]) return byFastifyCode[code]()
  return statusCode === 400 ? fault('bad_request', { text: 'The body is not valid JSON.' }) : undefined
}

/** Sends any error in the uniform failure format. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = faultFromRequestError(error)
  // A client that disconnected is not an error.
  const isAborted = (error as Partial<Error> | undefined)?.name === 'AbortError' && reply.raw.destroyed
  const isGone = isAborted || (request.raw.destroyed && !request.raw.complete)
  if (isGone) request.log.info('client hung up')
  else if (!known || error instanceof Unavailable) request.log.error({ err: error }, 'request failed')
  const answer = known ?? fault('internal', { fields: { request_id: request.id } })
  if (answer.extra.retryAfter !== undefined) void reply.header('retry-after', answer.extra.retryAfter)
  if (answer.status === 401 && request.url.startsWith('/api/sync/')) void reply.header('www-authenticate', 'Bearer')
  return reply
    .code(answer.status)
    .headers(jsonHeaders)
    .serializer(String)
    .send(JSON.stringify(failureBody(answer)))
}
