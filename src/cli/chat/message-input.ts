import { usage } from '../exit.ts'
import type { Io } from '../io.ts'

/** Largest message, in bytes; the server decides, but no more than this is read. */
const MAX_BYTES = 16_384

/** The words given as arguments, or standard input for `-` and where there are none. Exit 2 when there is nothing to say. */
export async function readMessage(io: Io, words: readonly string[]): Promise<string> {
  const fromInput = words.length === 0 ? !io.interactive : words.length === 1 && words[0] === '-'
  if (words.length === 0 && io.interactive) throw usage('Say something: give the text, or - for standard input.')
  const text = fromInput ? await readInput(io) : words.join(' ')
  if (text.trim() === '') throw usage('The message is empty.')
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw usage(`The message is longer than ${MAX_BYTES} bytes: shorten it, or send a file.`)
  return text
}

async function readInput(io: Io): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of io.input()) {
    chunks.push(chunk)
    size += chunk.length
    // Two more bytes may be the line break at the end, which is no part of the message.
    if (size > MAX_BYTES + 2) break
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
