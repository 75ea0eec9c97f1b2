import { fault } from '../contract/errors.ts'

/** First and last byte to send, both inclusive. */
export interface Range {
  start: number
  end: number
}

/**
 * The single byte range a request asks for (RFC 9110, section 14.2); undefined for all of it, also when several are asked
 * for or the header makes no sense. Fault `range_not_satisfiable` when it lies outside.
 */
export function rangeOf(header: string | undefined, size: number): Range | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '')
  if (!found || (found[1] === '' && found[2] === '')) return undefined
  const [first, last] = [found[1]!, found[2]!]
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return undefined
  if (start >= size || (first === '' && Number(last) === 0)) throw fault('range_not_satisfiable', { fields: { size } })
  return { start, end }
}
