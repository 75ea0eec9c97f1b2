import { tables } from '../../src/contract/tables.ts'
import { bytesFor } from './bytes.ts'
import { rowOf } from './furnish.ts'
import type { Fields, Operation, Way } from './operations.ts'
import type { Shot } from './shot.ts'
import type { Attacker } from './target.ts'

/** A valid request, to be modified. */
export interface Base {
  operation: Operation
  query: Record<string, unknown>
  body: unknown
}

/** Encodes a text for a query; lone surrogates become the three bytes of their code point. */
const escaped = (text: string): string =>
  Array.from(text, (character) => {
    const code = character.codePointAt(0)!
    if (code < 0xd800 || code > 0xdfff) return encodeURIComponent(character)
    const bytes = [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]
    return bytes.map((byte) => `%${byte.toString(16)}`).join('')
  }).join('')

const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join('&')

/** Path of an operation with a query. */
export function targetOf({ path }: Operation, parameters: Record<string, unknown>, more = ''): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${escaped(name)}=${escaped(String(value))}`)
  const search = joined(...pairs, more)
  return search === '' ? path : `${path}?${search}`
}

export const JSON_TYPE = 'application/json'

/** A serialized body with its content type. */
function packed(operation: Operation, body: unknown): { body: Buffer | undefined; headers: Record<string, string> } {
  if (operation.takes === 'nothing') return { body: undefined, headers: {} }
  if (operation.takes === 'json')
    return { body: Buffer.from(JSON.stringify(body)), headers: { 'content-type': JSON_TYPE } }
  return bytesFor(operation, 'new.txt')
}

/** The attacker's value for a parameter; undefined if the example's value will do. */
function ownValue({ path }: Operation, name: string, own: Attacker['own']): unknown {
  if (name === 'id') return path.includes('trash') ? own['trash'] : own['app']
  return own[name]
}

const settled = (operation: Operation, values: Fields, { own }: Attacker): Fields =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, ownValue(operation, name, own) ?? value]))

/** Further bodies of operations whose example shows only one variant. */
function moreBodies({ action }: Operation, { own }: Attacker, foreign: readonly number[]): unknown[] {
  if (action === 'push') {
    const inserts = Object.entries(tables).map(([table, declared]) => ({
      table,
      operation: 'INSERT',
      data: rowOf(declared, 'text'),
      op_id: `insert ${table}`,
    }))
    const update = { table: 'svc_notes', operation: 'UPDATE', data: { id: own['row'], title: 'Tea' }, base_version: 1 }
    const remove = { table: 'svc_notes', operation: 'DELETE', data: { id: own['row'] } }
    const strange = foreign.flatMap((id) =>
      Object.keys(tables).map((table) => ({ table, operation: 'UPDATE', data: { id } })),
    )
    return [...inserts, update, remove]
      .map((one) => ({ operations: [one] }))
      .concat({ operations: strange.slice(0, 90) as never })
  }
  if (action === 'files_batch')
    return [
      { operations: [{ op: 'delete', path: '/old.txt' }] },
      { operations: [{ op: 'mkdir', path: '/made' }] },
      { operations: [{ op: 'move', from: '/hello.txt', to: '/moved.txt', if_sha256: '0'.repeat(64) }] },
    ]
  return []
}

/** Valid requests of an operation. */
export function basesOf(operation: Operation, attacker: Attacker, foreign: readonly number[]): Base[] {
  const query = settled(operation, operation.parameters, attacker)
  const body = settled(operation, operation.body, attacker)
  return [body, ...moreBodies(operation, attacker, foreign)].map((one) => ({ operation, query, body: one }))
}

/** The modified parts of a request. */
export interface Spoilt {
  what: string
  method?: string
  by?: Way
  target?: string
  headers?: Record<string, string>
  body?: Buffer | undefined
  refuse?: boolean
}

/** A request with a modification. */
export function shotOf({ operation, query, body: good }: Base, { what, ...spoilt }: Spoilt): Shot {
  const { body, headers } = packed(operation, good)
  return {
    operation,
    what,
    method: operation.method,
    target: targetOf(operation, query),
    by: operation.ways[0]!,
    body,
    refuse: false,
    ...spoilt,
    headers: { ...headers, ...spoilt.headers },
  }
}

/** A valid request with each kind of credentials that the operation accepts. */
export const plain = (base: Base): Shot[] =>
  base.operation.ways.map((by) => shotOf(base, { what: `as it should be, by ${by}`, by }))
