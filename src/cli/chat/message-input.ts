import { usage } from '../exit.ts'
import type { Io } from '../io.ts'

/** Largest message, bytes. The server decides; this only limits what is read. */
const MAX_BYTES = 16_384

/** The arguments, or standard input for `-` and without arguments. Exit 2 if the message is empty. */
export async function readMessage(io: Io, words: readonly string[]): Promise<string> {
  const fromInput = words.length === 0 ? !io.interactive : words.length === 1 && words[0] === '-'
  if (words.length === 0 && io.interactive) throw usage('Give the text of the message, or - for standard input.')
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
    // Allow two more bytes for the final line break, which is not part of the message.
    if (size > MAX_BYTES + 2) break
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
