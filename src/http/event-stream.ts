import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { fault } from '../contract/errors.ts'
import type { Access } from './access.ts'
import { failureBody } from './failure-body.ts'
import { faultOf } from './fault-of.ts'

/** How long a connection that waits for an answer may be silent, ms. */
export const STREAM_SILENCE = 180_000

/** A remark that keeps proxies from ending a silent connection is sent this often, ms. */
const HEARTBEAT = 15_000

const REMARK = ': \n\n'

/** Tells the client of something; resolves when there is room for more. Throws when nobody listens any more. */
export type Send = (event: string, data: unknown) => Promise<void>

type Producer = (send: Send) => Promise<unknown>

/** An answer as server-sent events (WHATWG HTML, 9.2). */
export class EventStream {
  readonly body = new PassThrough()
  /** Resolves when the producer has ended, however. */
  produced: Promise<void> = Promise.resolve()
  readonly #signal: AbortSignal
  #assertAllowed: (() => Promise<void>) | undefined
  /** The check of the event before: events keep their order. */
  #checked: Promise<unknown> = Promise.resolve()

  private constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /**
   * Starts a producer and waits for its first event or its end, so that a refusal is an answer like any other and thrown from
   * here; one that takes long to say anything is not waited for. Its result becomes the event `done`, a later failure the
   * event `error`; `report` is told of failures that are bugs.
   */
  static async begin(signal: AbortSignal, produce: Producer, report: (error: unknown) => void): Promise<EventStream> {
    const stream = new EventStream(signal)
    let isBegun = false
    let patience: ReturnType<typeof setTimeout> | undefined
    const begun = new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        isBegun = true
        resolve()
      }
      patience = setTimeout(() => {
        begin()
        stream.#beat()
      }, HEARTBEAT)
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
    await begun.finally(() => clearTimeout(patience))
    const beat = setInterval(() => stream.#beat(), HEARTBEAT)
    stream.body.once('close', () => clearInterval(beat))
    return stream
  }

  /** From now on every event is checked before it is sent. */
  heldTo(assertAllowed: () => Promise<void>): void {
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

  /** Keeps the connection from looking idle. A write after the end would cut off what a slow reader has not read yet. */
  #beat(): void {
    const { writableEnded, writableNeedDrain } = this.body
    if (!writableEnded && !writableNeedDrain) this.body.write(REMARK)
  }

  #fail(error: unknown, report: (error: unknown) => void): void {
    const { aborted, reason } = this.#signal
    // Aborted for another reason than that nobody listens any more, which is to be told.
    const refused = aborted ? faultOf(reason) : undefined
    if (aborted && !refused) return void this.body.destroy()
    const known = refused ?? faultOf(error)
    if (!known) report(error)
    this.body.end(`event: error\ndata: ${JSON.stringify(failureBody(known ?? fault('internal')))}\n\n`)
  }
}

/** Sends the events as they come, while the caller may hear them; nothing between may collect or keep them. */
export function sendEvents(reply: FastifyReply, stream: EventStream, access: Access | undefined): FastifyReply {
  if (access) stream.heldTo(() => access.recheck())
  return reply
    .code(200)
    .headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    .send(stream.body)
}
