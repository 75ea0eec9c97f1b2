import { finished, type Readable } from 'node:stream'
import { ByteGatherer } from '../base/byte-gatherer.ts'

/** Bytes that wait to be asked for before the stream is paused. */
const MOST_WAITING = 256 * 1_024

/**
 * The bytes of a stream. What arrives in one turn of the event loop is handed out together, so that a peer who sends single
 * bytes does not cost a step for each. Left before its end, the stream flows on unread: the caller ends it.
 */
export async function* blocksOf(stream: Readable): AsyncGenerator<Uint8Array> {
  const gathered = new ByteGatherer()
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
    gathered.add(chunk)
    if (gathered.size >= MOST_WAITING) stream.pause()
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
      if (gathered.size > 0) {
        const chunks = gathered.take()
        stream.resume()
        yield* chunks
      } else if (isOver) break
      else await new Promise<void>((resolve) => (wake = resolve))
    }
    if (failure) throw failure
  } finally {
    stopWatching()
    stream.off('data', onData)
    // An error that comes later is nobody's any more.
    stream.on('error', () => undefined)
    stream.resume()
  }
}
