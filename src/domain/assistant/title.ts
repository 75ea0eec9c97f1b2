import { readable } from './text.ts'

// Titles of conversations, made of what was said first.

const LENGTH = 60

/** A title stands at the beginning of a message: no more of it is looked at, in characters. */
const LOOKED_AT = 4_000

/** A sentence of fewer characters is a greeting: what follows belongs to the title. */
const GREETING = 12

/** What a line begins with in Markdown: headings, quotes, lists, tasks. */
const MARKS = /^(?:[ \t]*(?:#{1,6}|>|[-*+]|\d{1,9}[.)]|\[[ xX]\])(?=[ \t]|$))+/

/** What it holds: pictures and links become their texts, emphasis and code what they enclose. */
const SPANS: readonly (readonly [RegExp, string])[] = [
  [/!?\[([^[\]]{1,500})\]\([^()]{0,2000}\)/g, '$1'],
  [/<(https?:\/\/[^<>\s]{1,2000})>/g, '$1'],
  [/`+/g, ''],
  [/(\*{1,3}|~~)(?=\S)([^*~]{1,300}?)(?<=\S)\1/g, '$2'],
  [/(?<![\p{L}\p{N}_])(_{1,3})(?=\S)([^_]{1,300}?)(?<=\S)\1(?![\p{L}\p{N}_])/gu, '$2'],
]

function plain(line: string): string {
  let text = line.replace(MARKS, '')
  for (const [mark, kept] of SPANS) text = text.replace(mark, kept)
  return text.replace(/\s+/g, ' ').trim()
}

/** The end of a sentence: a mark behind which a blank or nothing stands, or one of the scripts that write without blanks. */
const END = /[.!?…]+["'»”’)\]]*(?= )|[。！？]+/g

/** What a full stop follows that ends no sentence: `Dr. Who`, `e.g. this`, `3. May`. */
const SHORT = /(?:^|[\s(.])(?:\p{L}|\d{1,3}|[DJMS]r|Mrs|Ms|St|Nr|No|ca|vs|bzw|etc|usw)$/u

function firstSentence(text: string): string {
  for (const { 0: mark, index } of text.matchAll(END)) {
    const end = index + mark.length
    const isShort = mark === '.' && SHORT.test(text.slice(0, index))
    if (end >= GREETING && !isShort) return text.slice(0, end)
  }
  return text
}

function shortened(text: string): string {
  const characters = [...text]
  if (characters.length <= LENGTH) return text
  const cut = characters.slice(0, LENGTH - 1).join('')
  const space = cut.lastIndexOf(' ')
  return `${(space > LENGTH / 2 ? cut.slice(0, space) : cut).trimEnd()}…`
}

/** The title of a conversation: the first sentence of its first message, without Markdown, cut between words. */
export function titleOf(message: string): string {
  const begin = readable(message.trimStart().slice(0, LOOKED_AT).toWellFormed())
  let isCode = false
  let fallback = ''
  for (const line of begin.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) {
      isCode = !isCode
      continue
    }
    const text = plain(line)
    if (!/[\p{L}\p{N}\p{So}]/u.test(text)) continue
    if (!isCode) return shortened(firstSentence(text).replace(/(?<!\.)[.:]$/, ''))
    fallback ||= text
  }
  return shortened(fallback) || 'New conversation'
}
