import { online, people, room, type Person } from './store.ts'

export interface Completion {
  /** The text to insert. */
  text: string
  label: string
  person?: Person
}

/** The word to complete: `@` and a name, or `:` and an emoji name. */
export interface CompletionPrefix {
  kind: '@' | ':'
  typed: string
  from: number
  to: number
}

const MAX_COMPLETIONS = 8

/** The completable word before the cursor. */
export function prefixAt(text: string, cursor: number): CompletionPrefix | undefined {
  const found = /(?:^|[\s(])(?:(@)([\p{L}\p{N}_.-]{0,40})|(:)([a-z0-9_+-]{2,30}))$/iu.exec(
    text.slice(Math.max(0, cursor - 60), cursor),
  )
  if (!found) return undefined
  const kind = (found[1] ?? found[3]) as '@' | ':'
  const typed = found[2] ?? found[4] ?? ''
  return { kind, typed, from: cursor - typed.length - 1, to: cursor }
}

/** People whose names start with a text: members of the room first, then those online. */
function matchingPeople(typed: string): Person[] {
  const wanted = typed.toLowerCase()
  const within = new Set(room.value?.participants.map(({ id }) => id))
  const rank = ({ id }: Person) => Number(!within.has(id)) * 2 + Number(!online.value.has(id))
  return people.value
    .filter(({ username, display_name }) =>
      [username, ...display_name.split(/\s+/)].some((name) => name.toLowerCase().startsWith(wanted)),
    )
    .toSorted((a, b) => rank(a) - rank(b) || a.username.localeCompare(b.username))
    .slice(0, MAX_COMPLETIONS)
}

/** Completions of a word. Emoji names are loaded on first use. */
export async function completionsOf({ kind, typed }: CompletionPrefix): Promise<Completion[]> {
  if (kind === '@') {
    return matchingPeople(typed).map((person) => ({ text: `@${person.username} `, label: person.display_name, person }))
  }
  const { emojiLike } = await import('../../../client/chat/emoji.ts')
  return emojiLike(typed, MAX_COMPLETIONS).map(({ name, emoji }) => ({
    text: `${emoji} `,
    label: `${emoji} :${name}:`,
  }))
}
