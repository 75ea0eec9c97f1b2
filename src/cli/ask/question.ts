import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { formatSize } from '../../base/sizes.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'

/** Most characters of a question with all its files; the server decides, but no more than this is read. */
const MAX_CHARACTERS = 262_144

const MAX_IMAGE_BYTES = 8 * 1_048_576

/** How files of images begin, in Latin-1. */
const IMAGES: readonly (readonly [name: string, head: string])[] = [
  ['PNG', '\x89PNG\r\n\x1a\n'],
  ['JPEG', '\xff\xd8\xff'],
  ['GIF', 'GIF8'],
  ['WebP', 'RIFF'],
]

function isImage(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 12).toString('latin1')
  const [name] = IMAGES.find(([, head]) => start.startsWith(head)) ?? []
  // RIFF is the beginning of sounds and films too.
  return name === 'WebP' ? start.endsWith('WEBP') : name !== undefined
}

/** What is sent: the text whole, and an image. */
export interface ComposedQuestion {
  message: string
  /** How many texts the user did not type. The assistant asks before it does what they may have told it. */
  context?: { attached: number }
  /** Base64. */
  image?: string
}

async function readFile(path: string): Promise<Buffer> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw usage(`${path} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}.`)
  })
  try {
    const stat = await file.stat()
    if (stat.isDirectory()) throw usage(`${path} is a folder: attach files.`)
    if (stat.size > MAX_IMAGE_BYTES) throw usage(`${path} is larger than ${formatSize(MAX_IMAGE_BYTES)}.`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

/** A fence longer than any inside, so that no file ends its own quotation. */
function fenced(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `File ${JSON.stringify(name)}:\n${fence}\n${text.replace(/\n$/, '')}\n${fence}`
}

/** Standard input as text where it is no terminal; nothing when there is none. */
async function pipedText(io: Io): Promise<string> {
  if (process.stdin.isTTY) return ''
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of io.input()) {
    pieces.push(piece)
    size += piece.length
    if (size > 4 * MAX_CHARACTERS) throw tooLong()
  }
  const bytes = Buffer.concat(pieces)
  if (!isUtf8(bytes) || bytes.includes(0)) throw usage('Standard input is no text: attach images with -a.')
  return bytes.toString().trim()
}

const tooLong = () =>
  usage(`The question with its files is longer than ${MAX_CHARACTERS} characters: give less of them.`)

/** Puts a question together: the words, then standard input, then the files, images apart. Undefined when there is nothing. */
export async function composeQuestion(
  io: Io,
  words: readonly string[],
  paths: readonly string[],
): Promise<ComposedQuestion | undefined> {
  const texts: string[] = []
  let image: string | undefined
  for (const path of paths) {
    const bytes = await readFile(path)
    if (isImage(bytes)) {
      if (image !== undefined) throw usage('Only one image can be attached to a question.')
      image = bytes.toString('base64')
    } else if (isUtf8(bytes) && !bytes.includes(0)) texts.push(fenced(basename(path), bytes.toString()))
    else throw usage(`${path} is neither text nor an image (${IMAGES.map(([name]) => name).join(', ')}).`)
  }
  const typed = words.join(' ').trim()
  const piped = await pipedText(io)
  // Without words, standard input is the question itself.
  const attached = texts.length + (typed !== '' && piped !== '' ? 1 : 0)
  const question = [typed, piped].filter((text) => text !== '')
  if (question.length === 0 && paths.length === 0) return undefined
  if (question.length === 0) question.push(image === undefined ? 'Read this.' : 'What is in this picture?')
  const message = [...question, ...texts].join('\n\n')
  if (message.length > MAX_CHARACTERS) throw tooLong()
  return { message, ...(attached > 0 && { context: { attached } }), ...(image !== undefined && { image }) }
}
