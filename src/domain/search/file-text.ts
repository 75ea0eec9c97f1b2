import type { Contents } from '../../storage/contents/contents.ts'
import { contentBytes, mimeOf, utf8Text } from '../files/files.ts'

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

/** The text of a file; empty if it is not UTF-8. Throws if it cannot be read, or `signal` aborts. */
export const textOfFile = async (
  contents: Pick<Contents, 'read'>,
  sha256: string,
  signal: AbortSignal,
): Promise<string> => utf8Text(await contentBytes(await contents.read(sha256), signal)) ?? ''
