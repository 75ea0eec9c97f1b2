import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { makeTurnQueue } from '../domain/turn.ts'

/** Chunks below this length, in bytes, are joined. */
const TINY = 1_024
const BLOCK = 16 * 1_024
/** Tiny chunks of one turn of the event loop after which a connection waits for its next turn. */
const PER_TURN = 256

/** Requests that want to read on after many tiny chunks. */
const waitToReadOn = makeTurnQueue()

/**
 * A request whose body arrives in sensible pieces whatever the sender does: Node passes on each chunk of the chunked transfer
 * coding by itself, and one of a byte costs everybody who touches it as much as one of 64 KiB. Who sends many tiny chunks gets
 * at most one read of the socket in a turn of the event loop, shared with all others who do.
 */
export class CoalescedMessage extends IncomingMessage {
  #block: Buffer | undefined
  #filled = 0
  #tiny = 0
  /** Bytes of the body that have arrived. */
  received = 0

  constructor(socket: Socket) {
    super(socket)
  }

  /** Whether nothing has arrived that was not handed on: the sender is waited for. */
  get isDrained(): boolean {
    return this.#filled === 0 && this.readableLength === 0
  }

  override push(chunk: Buffer | null): boolean {
    this.received += chunk?.length ?? 0
    if (chunk === null || chunk.length >= TINY) {
      this.#handOn()
      return super.push(chunk)
    }
    if (this.#block && this.#filled + chunk.length > this.#block.length) this.#handOn()
    if (!this.#block) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK)
      setImmediate(() => this.#turn())
    }
    chunk.copy(this.#block, this.#filled)
    this.#filled += chunk.length
    this.#tiny += 1
    return this.#tiny < PER_TURN && this.readableLength < this.readableHighWaterMark
  }

  override _read(size: number): void {
    if (this.#tiny < PER_TURN) return super._read(size)
    waitToReadOn(() => {
      this.#tiny = 0
      super._read(size)
    })
  }

  #turn(): void {
    if (this.#tiny < PER_TURN) this.#tiny = 0
    this.#handOn()
  }

  #handOn(): void {
    const [block, filled] = [this.#block, this.#filled]
    this.#block = undefined
    this.#filled = 0
    if (block && filled > 0) super.push(block.subarray(0, filled))
  }
}
