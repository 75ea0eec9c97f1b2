import { wireActions } from 'virtual:wire-actions'
import { faultOf } from '../../client/http/response.ts'
import { actionUrl, makeApi } from '../../client/api.ts'
import { Unreachable } from '../../client/errors.ts'
import type { AnyAction } from '../../contract/contract.ts'
import { isFault } from '../../contract/errors.ts'
import { ApiError } from '../kit/api-error.ts'
import type { ActionName, AnswerOf, ParamsOf } from '../wire/actions.ts'
import { readStreamedAnswer, type StreamListener } from './streamed-answer.ts'
import { makeBrowserTransport } from './transport.ts'

/** Timeout of a response beyond the requested wait, ms. */
const ANSWER_TIMEOUT = 20_000

/** Idle timeout of a stream, ms: a model may think for minutes before its first word. */
const STREAM_IDLE_TIMEOUT = 180_000

let csrfToken: string | undefined

export const setCsrfToken = (token: string | undefined): void => void (csrfToken = token)

const api = makeApi({ url: location.origin, token: undefined, transport: makeBrowserTransport(() => csrfToken) })

export const isAction = (name: unknown): name is ActionName =>
  typeof name === 'string' && Object.hasOwn(wireActions, name)

function toApiError(error: unknown): unknown {
  if (isFault(error)) {
    const { message, code, extra } = error
    const known = extra.fields?.['code']
    return new ApiError({
      code: typeof known === 'string' ? known : code,
      message,
      ...(extra.fields ? { fields: extra.fields } : {}),
      ...(extra.retryAfter === undefined ? {} : { retryAfter: extra.retryAfter }),
    })
  }
  if (error instanceof Unreachable) return new ApiError({ code: 'unreachable', message: error.message })
  return error
}

export interface CallOptions {
  signal?: AbortSignal
  body?: Blob | undefined
  name?: string | undefined
  onProgress?: (sent: number, total: number) => void
  onEvent?: StreamListener
}

/** Sends a request with the current session. Throws `ApiError`. */
export async function callOnce<N extends ActionName>(
  name: N,
  params: ParamsOf<N>,
  sending: CallOptions = {},
): Promise<AnswerOf<N>> {
  const action = wireActions[name] as unknown as AnyAction
  const { wait = 0, stream } = params as { wait?: unknown; stream?: unknown }
  const isStream = action.streams === true && stream === true
  const { signal } = sending
  const timeout = isStream ? STREAM_IDLE_TIMEOUT : ANSWER_TIMEOUT + Number(wait) * 1_000
  const options = { timeout, ...(signal ? { signal } : {}) }
  try {
    if (isStream) {
      const { body } = await api.receive(action, params as Record<string, unknown>, options)
      return (await readStreamedAnswer(body, sending.onEvent)) as AnswerOf<N>
    }
    if (action.sends === 'bytes') return (await upload(action, params, sending)) as AnswerOf<N>
    if (action.answers !== 'bytes')
      return (await api.call(action, params as Record<string, unknown>, options)) as AnswerOf<N>
    const { body, headers } = await api.receive(action, params as Record<string, unknown>, options)
    const parts: BlobPart[] = []
    for await (const piece of body) parts.push(piece as Uint8Array<ArrayBuffer>)
    return new Blob(parts, { type: headers['content-type'] ?? '' }) as AnswerOf<N>
  } catch (error) {
    throw toApiError(error)
  }
}

/** The URL of a GET action. */
export const addressOf = (name: ActionName, params: object): string => actionUrl('', wireActions[name]!, { ...params })

export const isChange = (name: ActionName): boolean => wireActions[name]?.method === 'POST'

/** Whether the browser may load the URL of an action as a download. */
export const isDownload = (name: ActionName): boolean =>
  wireActions[name]?.method === 'GET' && wireActions[name].answers === 'bytes'

/** Uploads a file with XMLHttpRequest: `fetch` reports no upload progress. */
function upload(action: AnyAction, params: object, { body, name, signal, onProgress }: CallOptions): Promise<unknown> {
  const form = new FormData()
  form.append('file', body ?? new Blob(), name ?? 'file')
  const request = new XMLHttpRequest()
  request.open('POST', actionUrl('', action, { ...params }))
  request.setRequestHeader('accept', 'application/json')
  if (csrfToken !== undefined) request.setRequestHeader('x-csrf-token', csrfToken)
  return new Promise((resolve, reject) => {
    const stop = () => request.abort()
    signal?.addEventListener('abort', stop)
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress?.(loaded, total))
    request.addEventListener('loadend', () => {
      signal?.removeEventListener('abort', stop)
      if (signal?.aborted) return reject(signal.reason as Error)
      if (request.status === 0) return reject(new Unreachable('The upload broke off.', { outcomeUnknown: true }))
      const answer = parse(request.responseText)
      const headers = { 'retry-after': request.getResponseHeader('retry-after') ?? '' }
      const none = (async function* () {})()
      if (request.status >= 400)
        reject(faultOf({ status: request.status, headers, body: none }, answer, location.origin))
      else resolve(answer)
    })
    request.send(form)
  })
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    // A proxy may send another format; the status is enough.
    return {}
  }
}
