import { Readable } from 'node:stream'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Unavailable } from '../base/errors.ts'
import { fault, type Fault } from '../contract/errors.ts'
import type { AnyAction } from '../contract/contract.ts'
import type { Access } from './access.ts'
import { failureBody } from './failure-body.ts'
import { faultOf } from './fault-of.ts'
import type { Outgoing } from './handle.ts'
import { bodyOf, holdsText, type JsonBody } from './json-pieces.ts'

/** Answers of JSON are never to be taken for anything else, nor kept by anybody in between. */
export const jsonHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
} as const

/** Writes the JSON answers of an action: only the fields its contract names leave. */
export function writerFor(action: AnyAction): (result: object) => JsonBody {
  const { properties = {}, required = [], ...rest } = action.result as { properties?: object; required?: string[] }
  const isEnvelope = (name: string) => name === 'ok' || name === 'success'
  // The same for every answer, so it is written once: copying each result into an envelope would cost more than all else.
  const enveloping = Object.fromEntries(
    Object.keys(properties).flatMap((name) => (isEnvelope(name) ? [[name, true] as const] : [])),
  )
  const envelope = JSON.stringify(enveloping).slice(0, -1)
  const fields = Object.fromEntries(Object.entries(properties).filter(([name]) => !isEnvelope(name)))
  const stringify =
    // Large answers are put together column by column by their handlers; checking each field again would double their cost.
    action.answers === 'large'
      ? JSON.stringify
      : fastJsonStringify({
          ...rest,
          properties: fields,
          required: required.filter((name) => !isEnvelope(name)),
        } as never)
  return (result) => {
    if (action.answers === 'large' && holdsText(result)) return bodyOf({ ...enveloping, ...result })
    const text = stringify(result)
    const separator = envelope.length > 1 && text.length > 2 ? ',' : ''
    return { body: envelope + separator + text.slice(1) }
  }
}

/** Sends an answer of bytes, which breaks off when the caller's access ends. */
export function sendBytes(reply: FastifyReply, { status, headers, body }: Outgoing, access?: Access): FastifyReply {
  if (body instanceof Readable) {
    if (access)
      body.once(
        'close',
        access.watch(() => body.destroy(fault('unauthorized'))),
      )
    // Where no byte of them comes, the failure that is answered has none of their headers.
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

/** What the caller is told of an error; undefined for a bug, of which they are told nothing. */
function toFault(error: unknown): Fault | undefined {
  const known = faultOf(error)
  if (known) return known
  const { code = '', statusCode } = error as Partial<FastifyError>
  if (byFastifyCode[code]) return byFastifyCode[code]()
  return statusCode === 400 ? fault('bad_request', { text: 'The body is not valid JSON.' }) : undefined
}

/** Turns whatever was thrown into the one shape of failures. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toFault(error)
  // Whoever hung up in the middle of a body is not told anything any more, and nothing went wrong here.
  const isLeft = (error as Partial<Error> | undefined)?.name === 'AbortError' && reply.raw.destroyed
  const isGone = isLeft || (request.raw.destroyed && !request.raw.complete)
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
