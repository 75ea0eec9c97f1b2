import { byteLength, fitsBytes } from '../../base/text.ts'

// What models read and say, as text.

/** A text of a model without control characters but tabs and line breaks: it may reach a terminal. */
export const readable = (text: string): string => text.replace(/(?![\n\t])\p{Cc}/gu, '')

const encoder = new TextEncoder()

/** The beginning of a text that has at most so many bytes, with a remark where something is missing. */
export function cutTo(text: string, bytes: number, remark = '\n[cut]'): string {
  if (fitsBytes(text, bytes)) return text
  const room = new Uint8Array(bytes - byteLength(remark))
  const { read } = encoder.encodeInto(text, room)
  return text.slice(0, read).toWellFormed() + remark
}
