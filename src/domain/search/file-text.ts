import { isUtf8 } from 'node:buffer'
import type { Contents } from '../../storage/contents/contents.ts'
import { mimeOf } from '../files/files.ts'

/** Larger files are found by name only, bytes. */
const MAX_SIZE = 1_048_576

const OTHER_TEXT = /[/+](json|xml|yaml|javascript|sql|x-sh|toml)$/

const isText = (name: string): boolean => {
  const mime = mimeOf(name)
  return mime.startsWith('text/') || OTHER_TEXT.test(mime) || mime === 'application/octet-stream'
}

/** Whether a file may be read for its text. */
export const hasText = ({ name, size }: { name: string; size: number }): boolean =>
  size > 0 && size <= MAX_SIZE && isText(name)

/** The text of a file; empty if it is not UTF-8. Throws if it cannot be read. */
export async function textOfFile(contents: Pick<Contents, 'read'>, sha256: string): Promise<string> {
  const content = await contents.read(sha256)
  const pieces: Uint8Array[] = []
  for await (const piece of Buffer.isBuffer(content) ? [content] : (content as AsyncIterable<Uint8Array>))
    pieces.push(piece)
  const bytes = Buffer.concat(pieces)
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : ''
}
