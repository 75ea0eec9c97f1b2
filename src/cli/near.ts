import { closestMatch } from 'leven'

/** Of some names the one that a mistyped word most likely means: the only one that begins like it, or one that half of its letters at most tell from it. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const alike = names.filter((name) => name !== '' && (name.startsWith(word) || word.startsWith(name)))
  if (word !== '' && alike.length === 1) return alike[0]
  return closestMatch(word, names, { maxDistance: Math.ceil(word.length / 2) })
}
