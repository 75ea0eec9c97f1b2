import { tarEnd, tarHeader, tarPadding } from '../../src/base/tar-writer.ts'
import type { Operation } from './operations.ts'

export const BOUNDARY = 'attack-boundary'

/** A form with one file. */
export const form = (name: string, content = 'some content'): Buffer =>
  Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${content}\r\n--${BOUNDARY}--\r\n`,
  )

/** An archive with one file. */
export const archive = (name: string): Buffer => {
  const content = Buffer.from('some content')
  return Buffer.concat([
    tarHeader({ name, size: content.length, mtime: 1, keys: {} }),
    content,
    tarPadding(content.length),
    tarEnd(),
  ])
}

/** A binary body for an operation, with a file of this name. */
export function bytesFor({ action, path }: Operation, name: string): { body: Buffer; headers: Record<string, string> } {
  if (action.endsWith('_batch')) return { body: archive(name), headers: { 'content-type': 'application/x-tar' } }
  if (path.includes('/sync/'))
    return { body: Buffer.from('some content'), headers: { 'content-type': 'application/octet-stream' } }
  return { body: form(name), headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } }
}
