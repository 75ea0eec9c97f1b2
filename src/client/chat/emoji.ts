import { nameToEmoji } from 'gemoji'

/** The emoji of a name such as `:tada:` or `+1`; any other text as it is. */
export function emojiNamed(text: string): string {
  const name = /^:?([a-z0-9_+-]+):?$/i.exec(text)?.[1]?.toLowerCase()
  return (name !== undefined && Object.hasOwn(nameToEmoji, name) ? nameToEmoji[name] : undefined) ?? text
}

/** Emoji whose names begin with a text, and then those that have it further on. */
export function emojiLike(text: string, most: number): { name: string; emoji: string }[] {
  const wanted = text.toLowerCase()
  const all = Object.entries(nameToEmoji).map(([name, emoji]) => ({ name, emoji }))
  const beginning = all.filter(({ name }) => name.startsWith(wanted))
  const within = all.filter(({ name }) => name.indexOf(wanted) > 0)
  // The shortest name is the likeliest: `smile` before `smile_cat`.
  return [...beginning.sort((a, b) => a.name.length - b.name.length), ...within].slice(0, most)
}
