import { nameToEmoji } from 'gemoji'

/** The emoji of a name such as `:tada:` or `+1`; other texts are unchanged. */
export function emojiNamed(text: string): string {
  const name = /^:?([a-z0-9_+-]+):?$/i.exec(text)?.[1]?.toLowerCase()
  return (name !== undefined && Object.hasOwn(nameToEmoji, name) ? nameToEmoji[name] : undefined) ?? text
}

export function emojiLike(text: string, most: number): { name: string; emoji: string }[] {
  const wanted = text.toLowerCase()
  const all = Object.entries(nameToEmoji).map(([name, emoji]) => ({ name, emoji }))
  const beginning = all.filter(({ name }) => name.startsWith(wanted))
  const within = all.filter(({ name }) => name.indexOf(wanted) > 0)
  // The shortest name is the most likely: `smile` before `smile_cat`.
  return [...beginning.sort((a, b) => a.name.length - b.name.length), ...within].slice(0, most)
}
