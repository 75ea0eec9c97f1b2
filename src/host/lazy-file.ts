import { open, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'

/**
 * The bytes of a file from `start` to `end` (inclusive), in chunks of `highWaterMark` bytes. The first read opens the file:
 * a stream that nobody reads holds no descriptor, so it may be dropped. Fails with the system's error.
 */
export function lazyFile(
  path: string,
  { start = 0, end = Infinity, highWaterMark }: { start?: number; end?: number; highWaterMark: number },
): Readable {
  let opening: Promise<FileHandle> | undefined
  let at = start

  async function next(): Promise<Buffer | null> {
    const file = await (opening ??= open(path))
    const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(highWaterMark, end + 1 - at)))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
    at += bytesRead
    if (bytesRead === 0) return null
    // A copy: the consumer should not keep the unused rest in memory.
    return bytesRead === buffer.length ? buffer : Buffer.from(buffer.subarray(0, bytesRead))
  }

  return new Readable({
    highWaterMark,
    read() {
      next().then(
        (chunk) => this.push(chunk),
        (error: unknown) => this.destroy(error as Error),
      )
    },
    destroy(error, destroyed) {
      // Closing waits for the read in progress. A failure to open is the error itself.
      const closing = opening?.then((file) => file.close()) ?? Promise.resolve()
      closing.then(() => destroyed(error), destroyed)
    },
  })
}
