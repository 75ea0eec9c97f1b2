import { createHash } from 'node:crypto'

// The same in every run, so that two runs differ only by the program and the machine.

const WORDS =
  'the quick brown fox jumps over lazy dogs while seven wizards mix potions and quietly file reports about it'.split(
    ' ',
  )
const CATEGORIES = ['home', 'work', 'garden', 'travel', 'reading']
const COLORS = ['#f4d35e', '#ee964b', '#0d3b66', '#6a994e', '#b56576']

const text = (seed: number, words: number): string =>
  Array.from({ length: words }, (_, index) => WORDS[(seed * 7 + index * (1 + (seed % 5))) % WORDS.length]).join(' ')

/** A message. */
export const TEXT = 'The engine weaves algebraic patterns just as the loom weaves flowers and leaves.'

export interface Note {
  title: string
  content: string
  category: string
  pinned: boolean
  color: string
}

/** A note of about 200 bytes as JSON. */
export const noteOf = (number: number): Note => ({
  title: `${text(number, 4)} ${number}`,
  content: text(number + 3, 18),
  category: CATEGORIES[number % CATEGORIES.length]!,
  pinned: number % 11 === 0,
  color: COLORS[number % COLORS.length]!,
})

/** Incompressible bytes, different for each seed. */
export function bytesOf(seed: number, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, index) =>
    createHash('sha512').update(`${seed} ${index}`).digest(),
  )
  return Buffer.concat(blocks, length)
}

export const sha256Of = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** The numbers from 0 to `count` - 1. */
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number)

const SYLLABLES = 'ka lo mi ter van sol den ri pa ner tu sig bo fel mar ce dis gon hu wel'.split(' ')

/** A word for each number, short for small ones. */
export function wordOf(number: number): string {
  let word = ''
  for (let rest = number; word === '' || rest > 0; rest = Math.floor(rest / SYLLABLES.length))
    word += SYLLABLES[rest % SYLLABLES.length]
  return word
}
