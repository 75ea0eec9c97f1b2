import { usage } from '../exit.ts'

/** Parses the ID of a conversation or a change set. */
export function parseId(what: string, text: string): number {
  const id = Number(text)
  if (!/^\d{1,15}$/.test(text) || id < 1)
    throw usage(`${what} is a number, not "${text}". Put a question in quotes, or after --.`)
  return id
}
