import { isSound, printable } from '../../base/text.ts'
import { fault, type Fault } from '../../contract/errors.ts'

const MAX_CHARACTERS = 100

/** A 400 for an invalid value, with a message for users. */
export const invalidField = (field: string, message: string): Fault =>
  fault('bad_request', { text: `${field} ${message}.`, fields: { details: [{ path: field, message }] } })

/** Refuses a name that does not fit on a line. Any other text is valid: `__proto__`, `../x`, an emoji. */
export function assertName(field: string, name: string): void {
  const fits = name.trim() !== '' && [...name].length <= MAX_CHARACTERS
  if (!fits || !isSound(name) || printable(name) !== name)
    throw invalidField(field, `must have 1 to ${MAX_CHARACTERS} printable characters`)
}
