import type { ChatState } from '../../../client/chat/chat-state.ts'
import type { Span } from './spans.ts'
import { sanitize } from './markup.ts'

export interface Candidate {
  label: string
  text: string
}

export interface Completion {
  /** UTF-16 code units before the cursor to replace. */
  length: number
  candidates: Candidate[]
}

/** Finds emoji by a prefix of the name; returns none until they are loaded. */
export type FindEmoji = (text: string, limit: number) => { name: string; emoji: string }[]

const MAX_CANDIDATES = 40

/** Completions of the word before the cursor: a name after `@`, an emoji after `:`, at the start a command after `/`. */
export function completionsOf(
  before: string,
  state: ChatState,
  { commands, emoji }: { commands: readonly string[]; emoji: FindEmoji },
): Completion | undefined {
  const command = /^\/([a-z]*)$/.exec(before)
  if (command) {
    const found = commands.filter((name) => name.startsWith(command[1]!))
    return completion(
      command[0].length,
      found.map((name) => ({ label: `/${name}`, text: `/${name} ` })),
    )
  }
  const person = /(?:^|[^\p{L}\p{N}_])@([\p{L}\p{N}_.-]*)$/u.exec(before)
  if (person) return completion(person[1]!.length + 1, people(state, person[1]!))
  const named = /(?:^|[^\p{L}\p{N}_:]):([a-z0-9_+-]{2,})$/iu.exec(before)
  if (named) {
    return completion(
      named[1]!.length + 1,
      emoji(named[1]!, MAX_CANDIDATES).map((found) => ({
        label: `${found.emoji} :${found.name}:`,
        text: `${found.emoji} `,
      })),
    )
  }
  return undefined
}

const completion = (length: number, candidates: Candidate[]): Completion | undefined =>
  candidates.length === 0 ? undefined : { length, candidates }

/** Users who match: members of the room first, by user name and by any word of the display name. */
function people({ people: everybody, rooms, current, me }: ChatState, text: string): Candidate[] {
  const wanted = text.toLowerCase()
  const here = new Set(rooms.find(({ room_id }) => room_id === current)?.participants.map(({ id }) => id))
  return everybody
    .filter(({ id }) => id !== me?.id)
    .filter(({ username, display_name }) =>
      [username, ...display_name.split(/\s+/)].some((name) => name.toLowerCase().startsWith(wanted)),
    )
    .sort((a, b) => Number(here.has(b.id)) - Number(here.has(a.id)))
    .slice(0, MAX_CANDIDATES)
    .map(({ username }) => ({ label: `@${sanitize(username)}`, text: `@${username} ` }))
}

/** Candidates on one line, scrolled so that the selected one is visible. */
export function candidateLine({ candidates }: Completion, chosen: number | undefined): Span[] {
  const from = Math.max(0, (chosen ?? 0) - 3)
  return [
    { text: ' ' },
    ...candidates
      .slice(from, from + 12)
      .flatMap(({ label }, index): Span[] => [
        { text: ` ${label} `, ...(from + index === chosen ? { inverse: true } : {}) },
        { text: ' ' },
      ]),
    ...(chosen === undefined ? [{ text: 'Tab completes', dim: true }] : []),
  ]
}
