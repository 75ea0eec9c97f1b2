import { usage } from '../exit.ts'

/** Parses a message ID, `12` or `#12`. Exit 2 for anything else. */
export function messageId(text: string): number {
  const match = /^#?([1-9]\d{0,15})$/.exec(text)
  const id = Number(match?.[1])
  if (!match || !Number.isSafeInteger(id))
    throw usage(`A message is given by its number, such as 12 or '#12', not "${text}".`)
  return id
}
