import { createHash } from 'node:crypto'

const GRAMMAR = /^[a-z0-9][a-z0-9._-]{0,63}$/

/**
 * The lookup form of a name: ASCII letters in lower case, everything else unchanged. `toLowerCase` also maps other letters
 * to ASCII (U+212A to k), so two names would be one account.
 */
export const normalName = (name: string): string => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Whether a normalised name is a valid user name. */
export const isUsername = (name: string): boolean => GRAMMAR.test(name)

// Dark enough for white initials (contrast of at least 4.5, WCAG 2.2), and distinguishable.
const PALETTE = [
  '#b3261e',
  '#9a4600',
  '#7a5900',
  '#4f6600',
  '#1b6d2f',
  '#006b5e',
  '#00677d',
  '#0b61a4',
  '#4355b9',
  '#6a4fa3',
  '#86468c',
  '#a0305f',
] as const

/** The default avatar colour, derived from the name. */
export function avatarColor(username: string): string {
  const number = createHash('sha256').update(username).digest().readUInt32BE(0)
  return PALETTE[number % PALETTE.length]!
}
