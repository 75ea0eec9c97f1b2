import { finished, type Readable } from 'node:stream'
import { ByteBuffer } from '../base/byte-buffer.ts'

/** Buffered bytes at which the stream is paused. */
const MAX_BUFFERED = 256 * 1_024

/**
 * The bytes of a stream. Chunks of one turn of the event loop are returned together, so that single-byte packets do not
 * cost a step each. If the consumer stops early the stream keeps flowing unread; the caller ends it.
 */
export async function* blocksOf(stream: Readable): AsyncGenerator<Uint8Array> {
  const buffer = new ByteBuffer()
  let isOver = false
  let failure: Error | null | undefined
  let isWoken = false
  let wake = (): void => undefined
  const wakeSoon = (): void => {
    if (isWoken) return
    isWoken = true
    setImmediate(() => {
      isWoken = false
      wake()
    })
  }
  const onData = (chunk: Uint8Array): void => {
    buffer.add(chunk)
    if (buffer.size >= MAX_BUFFERED) stream.pause()
    wakeSoon()
  }
  const stopWatching = finished(stream, { writable: false }, (error) => {
    isOver = true
    failure = error
    wakeSoon()
  })
  stream.on('data', onData)
  try {
    for (;;) {
      if (buffer.size > 0) {
        const chunks = buffer.take()
        stream.resume()
        yield* chunks
      } else if (isOver) break
      else await new Promise<void>((resolve) => (wake = resolve))
    }
    if (failure) throw failure
  } finally {
    stopWatching()
    stream.off('data', onData)
    // Later errors have no consumer.
    stream.on('error', () => undefined)
    stream.resume()
  }
}
