import { closestMatch } from 'leven'

/** Closest name to a typo: the unique prefix match, else the name with an edit distance of at most half its length. */
export function suggest(word: string, names: readonly string[]): string | undefined {
  const alike = names.filter((name) => name !== '' && (name.startsWith(word) || word.startsWith(name)))
  if (word !== '' && alike.length === 1) return alike[0]
  return closestMatch(word, names, { maxDistance: Math.ceil(word.length / 2) })
}
