import { createHash, randomUUID } from 'node:crypto'
import type { TableName } from '../../contract/tables.ts'
import type { Candidate } from './row-files.ts'
import type { Change } from '../replica/replica-records.ts'

/** The changes that import rows. IDs derive from file and position, so repeats are recognised; `again` creates new ones. */
export function changesOf(table: TableName, candidates: readonly Candidate[], text: string, again: boolean): Change[] {
  const file = createHash('sha256').update(text).digest('hex')
  return candidates.map(({ values, id, version, replaces, position }, index) => {
    const target = [id ?? '', ...(replaces === undefined ? [] : [replaces])].join('\n')
    const op_id = again ? randomUUID() : uuidFrom(`${table}\n${file}\n${position ?? index}\n${target}`)
    if (id === undefined) return { table, verb: 'INSERT', values, op_id }
    const base = version === undefined ? {} : { base_version: version }
    return { table, verb: 'UPDATE', row: id, values, op_id, ...base }
  })
}

/** A UUID derived from a text: version 8 (RFC 9562). */
function uuidFrom(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = '89ab'[parseInt(hex[16]!, 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
