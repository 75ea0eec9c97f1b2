import { fitsBytes } from '../../../base/text.ts'

/** Most bytes a model is given as the result of one call. */
const RESULT_BYTES = 65_536

const CUT = '\n[cut here: there is more]'

const decoder = new TextDecoder()

/** A text that fits into a result; what is too long loses its end and says so. */
export function bounded(text: string, max: number = RESULT_BYTES): string {
  if (fitsBytes(text, max)) return text
  const bytes = new TextEncoder().encode(text).subarray(0, max - CUT.length)
  // A character cut in two is left out.
  return decoder.decode(bytes).replace(/\ufffd+$/, '') + CUT
}

/** A text on one line, at most so many characters long. */
export function brief(text: string, characters: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > characters ? `${line.slice(0, characters - 1).toWellFormed()}…` : line
}

export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
