import { randomHex } from '../../base/random.ts'

/** A multipart/form-data body with one file in the part `file`. */
export interface Multipart {
  headers: { 'content-type': string }
  body: AsyncIterable<Uint8Array>
  /** Bytes of the body. */
  size: number
}

/** `size` is the length of the content in bytes; the content is read once (RFC 7578). */
export function multipartFile(name: string, content: AsyncIterable<Uint8Array>, size: number): Multipart {
  const boundary = `svc-${randomHex(16)}`
  // Escapes a parameter as browsers do (WHATWG HTML, multipart/form-data encoding).
  const quoted = name.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  async function* body(): AsyncGenerator<Uint8Array> {
    yield head
    yield* content
    yield tail
  }
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: body(),
    size: head.length + size + tail.length,
  }
}
