import { readable } from './model-text.ts'

// Titles of conversations, from their first message.

const LENGTH = 60

const SEARCHED = 4_000

/** A shorter sentence is a greeting: the title includes the next one. */
const GREETING = 12

/** Markdown block marks at the start of a line: headings, quotes, lists, tasks. */
const MARKS = /^(?:[ \t]*(?:#{1,6}|>|[-*+]|\d{1,9}[.)]|\[[ xX]\])(?=[ \t]|$))+/

/** Markdown spans: pictures and links become their texts, emphasis and code their content. */
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

/** End of a sentence: a mark before a space or the end, or a mark of a script without spaces. */
const END = /[.!?…]+["'»”’)\]]*(?= )|[。！？]+/g

/** Abbreviations and numbers before a full stop that does not end a sentence: `Dr. Who`, `e.g. this`, `3. May`. */
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

/** The title of a conversation: the first sentence of its first message, without Markdown, cut at a word boundary. */
export function titleOf(message: string): string {
  const begin = readable(message.trimStart().slice(0, SEARCHED).toWellFormed())
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
