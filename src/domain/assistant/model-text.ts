import { byteLength, fitsBytes } from '../../base/text.ts'

/** Removes control characters except tabs and line breaks from a model's text: a terminal may print it. */
export const readable = (text: string): string => text.replace(/(?![\n\t])\p{Cc}/gu, '')

const encoder = new TextEncoder()

/** Truncates a text to at most `bytes` bytes, with a remark if anything is missing. */
export function cutTo(text: string, bytes: number, remark = '\n[cut]'): string {
  if (fitsBytes(text, bytes)) return text
  const target = new Uint8Array(bytes - byteLength(remark))
  const { read } = encoder.encodeInto(text, target)
  return text.slice(0, read).toWellFormed() + remark
}
