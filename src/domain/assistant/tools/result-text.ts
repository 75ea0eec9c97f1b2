import { fitsBytes } from '../../../base/text.ts'

/** Maximum bytes of a result. */
const RESULT_BYTES = 65_536

const CUT = '\n[cut here: there is more]'

const decoder = new TextDecoder()

export function truncated(text: string): string {
  if (fitsBytes(text, RESULT_BYTES)) return text
  const bytes = new TextEncoder().encode(text).subarray(0, RESULT_BYTES - CUT.length)
  // Drop a character cut in two.
  return decoder.decode(bytes).replace(/\ufffd+$/, '') + CUT
}

export function brief(text: string, characters: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > characters ? `${line.slice(0, characters - 1).toWellFormed()}…` : line
}

export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
