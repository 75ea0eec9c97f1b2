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

const TITLE_LENGTH = 60

/** The title of a conversation: the beginning of its first message, cut between words. */
export function titleOf(message: string): string {
  const line = readable(message).trim().replace(/\s+/g, ' ')
  const characters = [...line]
  if (characters.length <= TITLE_LENGTH) return line || 'New conversation'
  const cut = characters.slice(0, TITLE_LENGTH - 1).join('')
  const space = cut.lastIndexOf(' ')
  return `${(space > TITLE_LENGTH / 2 ? cut.slice(0, space) : cut).trimEnd()}…`
}
