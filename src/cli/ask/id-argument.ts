import { usage } from '../exit.ts'

/** The number of a conversation or a change set, as it is typed. */
export function parseId(what: string, text: string): number {
  const id = Number(text)
  if (!/^\d{1,15}$/.test(text) || id < 1)
    throw usage(`${what} is a number, not "${text}". A question has to be quoted, or to stand behind --.`)
  return id
}
