import { isBase64 } from '../../base/base64.ts'
import type { ModelMessage, Picture } from '../../base/language-model.ts'
import { deeperThan } from '../../base/nesting.ts'
import { byteLength, isSound } from '../../base/text.ts'
import { SLUG } from '../../contract/slug.ts'
import type { assistant } from '../../contract/assistant.ts'
import type { Params } from '../../contract/define.ts'
import { badRequest, fault } from '../../contract/errors.ts'
import { ASSISTANT_CONTEXT, ASSISTANT_HISTORY, ASSISTANT_IMAGE } from '../../contract/limits.ts'

export type Question = Omit<Params<typeof assistant.actions.ask>, 'stream'>

export interface Attachments {
  history: ModelMessage[]
  /** The desktop context as text; undefined for none. */
  context: string | undefined
  picture: Picture | undefined
  /** Whether any of it may contain text that others wrote. */
  tainted: boolean
}

function readContext(context: object | undefined): { context: string | undefined; tainted: boolean } {
  if (context === undefined || Object.keys(context).length === 0) return { context: undefined, tainted: false }
  const { max_bytes, max_depth } = ASSISTANT_CONTEXT
  if (deeperThan(context, max_depth)) throw badRequest('context', `must be nested at most ${max_depth} levels`)
  const text = JSON.stringify(context)
  if (byteLength(text) > max_bytes) throw badRequest('context', `must be at most ${max_bytes} bytes long`)
  // The slug of an app is harmless; everything else may have been named or written by others.
  const isHarmless = Object.entries(context).every(([name, value]) => name === 'app' && SLUG.test(String(value)))
  return { context: text, tainted: !isHarmless }
}

function readHistory(history: NonNullable<Question['history']>): ModelMessage[] {
  const bytes = history.reduce((sum, { content }) => sum + byteLength(content), 0)
  if (bytes > ASSISTANT_HISTORY.max_bytes)
    throw badRequest('history', `must be at most ${ASSISTANT_HISTORY.max_bytes} bytes long`)
  return history.map(({ role, content }): ModelMessage => {
    if (!isSound(content)) throw badRequest('history', 'holds a character that cannot be stored')
    return role === 'user' ? { role, text: content } : { role, text: content, calls: [] }
  })
}

const SIGNATURES: readonly (readonly [type: string, is: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))],
  ['image/gif', (bytes) => /^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))],
  ['image/webp', (bytes) => /^RIFF[^]{4}WEBP$/.test(bytes.toString('latin1', 0, 12))],
]

/** Detects the type of a picture by its bytes, not by the declared type. URLs are refused. */
function readPicture(image: string): Picture {
  const base64 = image.replace(/^data:image\/[a-z.+-]{1,20};base64,/, '')
  if (base64 === '' || !isBase64(base64)) throw badRequest('image', 'must be a picture in base64')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > ASSISTANT_IMAGE) throw fault('too_large', { text: 'A picture has at most 8 MiB.' })
  const type = SIGNATURES.find(([, is]) => is(bytes))?.[0]
  if (!type) throw badRequest('image', 'must be a PNG, JPEG, GIF or WebP')
  return { type, base64 }
}

/** Validates the attachments of a question. Faults: `bad_request`, `too_large`. */
export function readAttachments({ message, history = [], context, image, conversation_id }: Question): Attachments {
  if (message.trim() === '') throw badRequest('message', 'must say something')
  const sentHistory = readHistory(history)
  const shown = readContext(context)
  return {
    // A stored conversation replaces the history that the client sent.
    history: conversation_id ? [] : sentHistory,
    context: shown.context,
    picture: image ? readPicture(image) : undefined,
    // An assistant's message may repeat text it had read.
    tainted: shown.tainted || (!conversation_id && history.some(({ role }) => role === 'assistant')),
  }
}
