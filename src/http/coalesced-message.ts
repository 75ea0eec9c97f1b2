import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { makeTurnQueue } from '../domain/turn.ts'

/** Chunks shorter than this, in bytes, are coalesced. */
const TINY_CHUNK = 1_024
const BLOCK = 16 * 1_024
/** Tiny chunks of a connection that are read per turn of the event loop. */
const PER_TURN = 256

function blockOf(chunk: Buffer): Buffer {
  const block = Buffer.allocUnsafeSlow(BLOCK)
  chunk.copy(block)
  return block
}

const waitForTurn = makeTurnQueue()

/**
 * A request that coalesces tiny chunks of its body. Node emits each chunk of the chunked transfer coding separately,
 * and a chunk of one byte costs as much to handle as one of 64 KiB. A connection that sends many of them gets at most
 * one socket read per turn of the event loop, in turn with all others that do.
 */
export class CoalescedMessage extends IncomingMessage {
  /** Bytes not passed on yet: one tiny chunk, or a block of several. */
  #pending: Buffer | undefined
  #filled = 0
  #tiny = 0
  received = 0
  /** Called when all of the body has arrived. */
  onComplete: (() => void) | undefined
  /** Whether head and body arrived in one read of the socket. */
  isWhole = false
  readonly #readBefore: number

  constructor(socket: Socket) {
    super(socket)
    this.#readBefore = socket.bytesRead
  }

  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.isWhole = this.received === 0 || this.socket.bytesRead === this.#readBefore
      this.onComplete?.()
    } else this.received += chunk.length
    if (chunk === null || chunk.length >= TINY_CHUNK) {
      this.#handOn()
      return super.push(chunk)
    }
    if (this.#filled + chunk.length > BLOCK) this.#handOn()
    if (!this.#pending) {
      this.#pending = chunk
      setImmediate(() => this.#turn())
    } else {
      if (this.#pending.length < BLOCK) this.#pending = blockOf(this.#pending)
      chunk.copy(this.#pending, this.#filled)
    }
    this.#filled += chunk.length
    this.#tiny += 1
    return this.#tiny < PER_TURN && this.readableLength < this.readableHighWaterMark
  }

  override _read(size: number): void {
    if (this.#tiny < PER_TURN) return super._read(size)
    waitForTurn(() => {
      this.#tiny = 0
      super._read(size)
    })
  }

  #turn(): void {
    if (this.#tiny < PER_TURN) this.#tiny = 0
    this.#handOn()
  }

  #handOn(): void {
    const [pending, filled] = [this.#pending, this.#filled]
    this.#pending = undefined
    this.#filled = 0
    if (pending && filled > 0) super.push(pending.subarray(0, filled))
  }
}
