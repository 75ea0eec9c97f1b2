import { isSound, printable } from '../../base/text.ts'
import { fault, type Fault } from '../../contract/errors.ts'

const MAX_CHARACTERS = 100

/** A 400 for a value that breaks a rule, in words for people. */
export const refuse = (field: string, message: string): Fault =>
  fault('bad_request', { text: `${field} ${message}.`, fields: { details: [{ path: field, message }] } })

/**
 * Refuses what cannot stand on a line of a screen. Names are only ever values of queries and keys of maps, so that
 * everything printable is one: `__proto__`, `../x`, an emoji.
 */
export function assertName(field: string, name: string): void {
  const fits = name.trim() !== '' && [...name].length <= MAX_CHARACTERS
  if (!fits || !isSound(name) || printable(name) !== name)
    throw refuse(field, `must have 1 to ${MAX_CHARACTERS} printable characters`)
}
