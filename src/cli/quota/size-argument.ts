import { parseSize } from '../../base/sizes.ts'
import { usage } from '../exit.ts'

/** Parses a size such as `10GB`; bytes, -1 for `none`. Exit 2 for anything else. */
export function readSize(text: string, more = ''): number {
  const bytes = text === 'none' ? -1 : parseSize(text)
  if (bytes === undefined) throw usage(`A quota is a size such as 10GB, or none${more}, not "${text}".`)
  return bytes
}
