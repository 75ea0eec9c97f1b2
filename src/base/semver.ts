// Semantic Versioning 2.0.0 (semver.org).

const NUMBER = '(?:0|[1-9]\\d{0,8})'
const WORD = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`
const BUILD = '[0-9A-Za-z-]+'
const VERSION = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${WORD}(?:\\.${WORD})*))?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`,
)

const MAX_LENGTH = 100

/** Whether a text is a version, such as `1.4.0` or `2.0.0-beta.1`. */
export const isVersion = (text: string): boolean => parts(text) !== null

const parts = (text: string) => (text.length <= MAX_LENGTH ? VERSION.exec(text) : null)

const isNumber = (word: string): boolean => /^\d+$/.test(word)

/** Compares numbers by value and words by characters; numbers come before words (section 11.4). */
function compareWords(a: string, b: string): number {
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b)
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1
  return a < b ? -1 : Number(a > b)
}

/** Negative if version `a` comes before `b`, 0 if they are equal. Ignores build metadata after `+` (section 11). */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parts(a), parts(b)]
  if (!first || !second) throw new RangeError(`${first ? b : a} is not a version.`)
  for (const part of [1, 2, 3]) {
    const difference = Number(first[part]) - Number(second[part])
    if (difference !== 0) return difference
  }
  const [before, after] = [first[4], second[4]]
  if (before === undefined || after === undefined) return Number(before === undefined) - Number(after === undefined)
  const [words, others] = [before.split('.'), after.split('.')]
  for (const [at, word] of words.entries()) {
    const other = others[at]
    if (other === undefined) return 1
    const difference = compareWords(word, other)
    if (difference !== 0) return difference
  }
  return words.length - others.length
}
