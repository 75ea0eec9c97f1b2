import { fault } from '../contract/errors.ts'

/** First and last byte, both inclusive. */
export interface Range {
  start: number
  end: number
}

/**
 * Parses a single byte range (RFC 9110, 14.2). Undefined means the whole content, also for several ranges and invalid
 * headers. Fault `range_not_satisfiable` when it lies outside of the content.
 */
export function parseRange(header: string | undefined, size: number): Range | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '')
  if (!found || (found[1] === '' && found[2] === '')) return undefined
  const [first, last] = [found[1]!, found[2]!]
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (first !== '' && last !== '' && Number(last) < start) return undefined
  if (start >= size || (first === '' && Number(last) === 0)) throw fault('range_not_satisfiable', { fields: { size } })
  return { start, end }
}
