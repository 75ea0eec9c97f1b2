import type { Pattern } from '../../storage/search/search-index.ts'
import { yieldToOthers } from '../turn.ts'

// Texts and queries become terms in the same way on every engine. A term is a word without case and accents. Scripts without spaces
// between words give overlapping pairs of characters, so that a part of a text is found. Words of a title are stored once more with a
// mark, and their endings with another, so that "rechnung" finds "Stromrechnung.pdf".

const TITLE = '_'
const ENDING = '+'
/** The mark of the scope and the kind, by which a query is narrowed. */
const ATTRIBUTE = '-'

const LONGEST = 32
/** Distinct terms of a document, and their characters: a text of random words stays bounded. */
const MAX_TERMS = 20_000
const MAX_CHARACTERS = 200_000
const MAX_ENDINGS = 100
/** Shorter terms begin too many words: they are found as whole words, or at the beginning of a word of a title. */
const LEAST_PREFIX = 3
/** Words of a query that count. */
export const MAX_WORDS = 8

const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々`
const RUNS = new RegExp(
  String.raw`([${UNSPACED}]+)|(?:(?![${UNSPACED}])[\p{L}\p{N}\p{M}])+|\p{Extended_Pictographic}`,
  'gu',
)
/** Marks of European scripts, Arabic and Hebrew; in others they are letters. */
const ACCENTS = /[\p{Script=Inherited}\u0591-\u05c7\u0640]/gu

/** Without case, accents and compatibility forms (Unicode TR 15, NFKD): "Straße" is "strasse", "É" is "e". */
const foldForSearch = (text: string): string =>
  text.normalize('NFKD').replace(ACCENTS, '').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC')

interface Run {
  text: string
  isUnspaced: boolean
}

const runsOf = function* (text: string): Generator<Run> {
  for (const { 0: run, 1: unspaced } of foldForSearch(text).matchAll(RUNS))
    yield { text: run, isUnspaced: unspaced !== undefined }
}

function termsOfRun({ text, isUnspaced }: Run): string[] {
  if (!isUnspaced) return [text.slice(0, LONGEST).toWellFormed()]
  const characters = [...text]
  return characters.map((character, at) => character + (characters[at + 1] ?? ''))
}

function endingsOf({ text, isUnspaced }: Run): string[] {
  if (isUnspaced) return []
  const word = Array.from(text.slice(0, LONGEST))
  return word.slice(1, 1 - LEAST_PREFIX).map((_, at) => word.slice(at + 1).join(''))
}

/** Characters that are folded at once; the rest waits for its turn. */
const SLICE = 16_384

/** Parts of a text that end between two words. */
function* slicesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + SLICE, text.length)
    const space = end < text.length ? text.lastIndexOf(' ', end) : end
    if (space > at) end = space
    yield text.slice(at, end).toWellFormed()
    at = end
  }
}

const kindTerm = (table: string): string => `${ATTRIBUTE}${table.replaceAll('_', '')}`
const scopeTerm = (scope: number): string => `${ATTRIBUTE}${scope < 0 ? `r${-scope}` : `u${scope}`}`

/** What stands for a document in the index. */
export async function termsOfDocument(document: {
  table: string
  scope: number
  title: string
  text: string
}): Promise<string[]> {
  const terms = new Set([kindTerm(document.table), scopeTerm(document.scope)])
  let endings = 0
  for (const run of runsOf(document.title)) {
    for (const term of termsOfRun(run)) terms.add(term).add(TITLE + term)
    for (const ending of endingsOf(run)) if (endings++ < MAX_ENDINGS) terms.add(ENDING + ending)
  }
  let characters = 0
  for (const slice of slicesOf(document.text)) {
    for (const run of runsOf(slice))
      for (const term of termsOfRun(run)) {
        if (terms.size >= MAX_TERMS || characters > MAX_CHARACTERS) return [...terms]
        if (!terms.has(term)) characters += term.length
        terms.add(term)
      }
    if (document.text.length > SLICE) await yieldToOthers()
  }
  return [...terms]
}

type Groups = Pattern[][]

export interface SearchTerms {
  /** Documents with all words in their title. */
  title: Groups
  /** Documents with all words anywhere. */
  anywhere: Groups
}

const pattern = (text: string, prefix: boolean): Pattern => ({ text, prefix })

/** The terms of a query; undefined if it has no letter or digit. Whatever it contains is text. */
export function termsOfQuery(query: string): SearchTerms | undefined {
  const title: Groups = []
  const anywhere: Groups = []
  const seen = new Set<string>()
  for (const run of runsOf(query)) {
    const terms = termsOfRun(run)
    // The last character of a run begins a pair only if it is the only one.
    if (run.isUnspaced && terms.length > 1) terms.pop()
    for (const term of terms) {
      if (seen.has(term)) continue
      seen.add(term)
      const isWhole = run.isUnspaced && [...term].length > 1
      const isShort = !run.isUnspaced && [...term].length < LEAST_PREFIX
      title.push([pattern(TITLE + term, !isWhole)])
      if (isWhole) anywhere.push([pattern(term, false)])
      else if (isShort) anywhere.push([pattern(term, false), pattern(TITLE + term, true)])
      else anywhere.push([pattern(term, true), ...(run.isUnspaced ? [] : [pattern(ENDING + term, true)])])
      if (seen.size === MAX_WORDS) return { title, anywhere }
    }
  }
  return seen.size === 0 ? undefined : { title, anywhere }
}

/** More scopes than this are only compared after the search. */
const MAX_SCOPES = 100

/** Groups that narrow a query to scopes and tables; both are few. */
export const narrowingGroups = (scopes: readonly number[], tables: readonly string[] | undefined): Groups => [
  ...(scopes.length <= MAX_SCOPES ? [scopes.map((scope) => pattern(scopeTerm(scope), false))] : []),
  ...(tables ? [tables.map((table) => pattern(kindTerm(table), false))] : []),
]
