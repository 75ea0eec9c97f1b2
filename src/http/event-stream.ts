import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { fault } from '../contract/errors.ts'
import type { Access } from './access.ts'
import { failureBody } from './failure-body.ts'
import { faultFromError } from './error-mapping.ts'

/** Idle timeout in ms of a connection that waits for an answer. */
export const STREAM_IDLE_MS = 180_000

/** Interval in ms of comments that keep proxies from closing an idle connection. */
const HEARTBEAT_MS = 15_000

const KEEP_ALIVE_COMMENT = ': \n\n'

/** Writes an event. Resolves when the buffer has room again; throws when the client has disconnected. */
export type Send = (event: string, data: unknown) => Promise<void>

type Producer = (send: Send) => Promise<unknown>

/** A response as server-sent events (WHATWG HTML, 9.2). */
export class EventStream {
  readonly body = new PassThrough()
  /** Resolves when the producer has finished or failed. */
  produced: Promise<void> = Promise.resolve()
  readonly #signal: AbortSignal
  #assertAllowed: (() => Promise<void>) | undefined
  /** The check of the previous event, so that events stay in order. */
  #checked: Promise<unknown> = Promise.resolve()

  private constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /**
   * Starts a producer and waits for its first event, its end, or the first heartbeat. A failure before that is thrown,
   * so that the client gets an ordinary error response. The producer's result becomes the event `done` and a later
   * failure the event `error`. `report` receives failures that are bugs.
   */
  static async begin(signal: AbortSignal, produce: Producer, report: (error: unknown) => void): Promise<EventStream> {
    const stream = new EventStream(signal)
    let isBegun = false
    let firstEventTimer: ReturnType<typeof setTimeout> | undefined
    const begun = new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        isBegun = true
        resolve()
      }
      firstEventTimer = setTimeout(() => {
        begin()
        stream.#keepAlive()
      }, HEARTBEAT_MS)
      const send: Send = async (event, data) => {
        begin()
        await stream.#write(event, data)
      }
      stream.produced = produce(send).then(
        async (result) => {
          await send('done', { ok: true, ...(result as object) }).catch(() => undefined)
          stream.body.end()
        },
        (error: unknown) => {
          if (!isBegun) return reject(error as Error)
          stream.#fail(error, report)
        },
      )
    })
    await begun.finally(() => clearTimeout(firstEventTimer))
    const keepAlive = setInterval(() => stream.#keepAlive(), HEARTBEAT_MS)
    stream.body.once('close', () => clearInterval(keepAlive))
    return stream
  }

  /** Checks access before every further event. */
  checkBeforeSend(assertAllowed: () => Promise<void>): void {
    this.#assertAllowed = assertAllowed
  }

  async #write(event: string, data: unknown): Promise<void> {
    const check = this.#assertAllowed
    if (check) {
      const allowed = this.#checked.then(check)
      this.#checked = allowed.catch(() => undefined)
      await allowed
    }
    this.#signal.throwIfAborted()
    if (this.body.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)) return
    await once(this.body, 'drain', { signal: this.#signal })
  }

  /** Sends a comment unless the stream has ended or is blocked: writing after the end would cut off unread data. */
  #keepAlive(): void {
    const { writableEnded, writableNeedDrain } = this.body
    if (!writableEnded && !writableNeedDrain) this.body.write(KEEP_ALIVE_COMMENT)
  }

  #fail(error: unknown, report: (error: unknown) => void): void {
    const { aborted, reason } = this.#signal
    // If access ended, the client is still connected and gets the error.
    const refused = aborted ? faultFromError(reason) : undefined
    if (aborted && !refused) return void this.body.destroy()
    const known = refused ?? faultFromError(error)
    if (!known) report(error)
    this.body.end(`event: error\ndata: ${JSON.stringify(failureBody(known ?? fault('internal')))}\n\n`)
  }
}

/** Streams the events with access checks; proxies must neither buffer nor cache them. */
export function sendEvents(reply: FastifyReply, stream: EventStream, access: Access | undefined): FastifyReply {
  if (access) stream.checkBeforeSend(() => access.recheck())
  return reply
    .code(200)
    .headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    .send(stream.body)
}
