import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { formatSize } from '../../base/sizes.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'

/** Most characters of a question with its files. The server decides; this only limits what is read. */
const MAX_CHARACTERS = 262_144

const MAX_IMAGE_BYTES = 8 * 1_048_576

/** Magic bytes of image files, in Latin-1. */
const IMAGES: readonly (readonly [name: string, head: string])[] = [
  ['PNG', '\x89PNG\r\n\x1a\n'],
  ['JPEG', '\xff\xd8\xff'],
  ['GIF', 'GIF8'],
  ['WebP', 'RIFF'],
]

function isImage(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 12).toString('latin1')
  const [name] = IMAGES.find(([, head]) => start.startsWith(head)) ?? []
  // Audio and video files begin with RIFF too.
  return name === 'WebP' ? start.endsWith('WEBP') : name !== undefined
}

export interface ComposedQuestion {
  message: string
  /** Number of texts that the user did not type. The assistant asks before it follows instructions from them. */
  context?: { attached: number }
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

/** Quotes a text in a fence longer than any inside it, so that a file cannot close it. */
function fenced(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `File ${JSON.stringify(name)}:\n${fence}\n${text.replace(/\n$/, '')}\n${fence}`
}

/** Standard input as text; undefined if it is a terminal or empty. */
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
  if (!isUtf8(bytes) || bytes.includes(0)) throw usage('Standard input is not text: attach images with -a.')
  return bytes.toString().trim()
}

const tooLong = () => usage(`The question with its files is longer than ${MAX_CHARACTERS} characters: attach less.`)

/** Composes a question from arguments, standard input and files; undefined if all are empty. */
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
  // Without arguments, standard input is the question itself.
  const attached = texts.length + (typed !== '' && piped !== '' ? 1 : 0)
  const question = [typed, piped].filter((text) => text !== '')
  if (question.length === 0 && paths.length === 0) return undefined
  if (question.length === 0) question.push(image === undefined ? 'Read this.' : 'What is in this picture?')
  const message = [...question, ...texts].join('\n\n')
  if (message.length > MAX_CHARACTERS) throw tooLong()
  return { message, ...(attached > 0 && { context: { attached } }), ...(image !== undefined && { image }) }
}
