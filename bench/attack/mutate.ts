import type { Random } from '../../test/support/random.ts'
import { shotOf, targetOf, type Base } from './base.ts'
import { queries, texts, values } from './hostile.ts'
import type { Operation } from './operations.ts'
import type { Shot } from './shot.ts'
import { changedAt, placesIn } from './places.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** A text with some characters deleted, duplicated, replaced or followed by a hostile text. */
function blur(text: string, random: Random): string {
  let blurred = text
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(blurred.length + 1)
    const [before, after] = [blurred.slice(0, at), blurred.slice(at)]
    const put = [
      () => before + after.slice(1),
      () => before + after + after,
      () => before + String.fromCharCode(random.below(0x10000)) + after,
      () => before + String.fromCharCode(random.below(128)) + after,
      () => before + random.of(texts)[1] + after,
    ]
    blurred = random.of(put)().slice(0, 8_000)
  }
  return blurred
}

/** Bytes with some changes. */
function flip(bytes: Buffer, random: Random): Buffer {
  const flipped = Buffer.from(bytes)
  if (flipped.length === 0) return flipped
  for (let left = 1 + random.below(4); left > 0; left--) flipped[random.below(flipped.length)] = random.below(256)
  return random.below(4) === 0 ? flipped.subarray(0, random.below(flipped.length)) : flipped
}

function anything(old: unknown, random: Random): unknown {
  if (typeof old === 'string' && random.below(2) === 0) return blur(old, random)
  if (typeof old === 'number' && random.below(2) === 0) return random.of([-1, 1, 0.5, 10, -old, 2 ** 32]) + old
  return random.of(random.below(2) === 0 ? texts : values)[1]
}

function spoiltQuery({ operation, query }: Base, random: Random): string {
  const optional = operation.takes === 'json' ? {} : operation.optional
  const names = Object.keys({ ...query, ...optional })
  if (names.length === 0) return targetOf(operation, {}, random.of(queries).replaceAll('NAME', 'x'))
  const name = random.of(names)
  const spoilt = { ...query, [name]: blur(String(query[name] ?? optional[name]), random) }
  return targetOf(operation, spoilt, random.below(4) === 0 ? random.of(queries).replaceAll('NAME', name) : '')
}

function spoiltBody(body: unknown, random: Random): unknown {
  let spoilt = body
  for (let left = 1 + random.below(3); left > 0; left--) {
    const places = placesIn(spoilt)
    if (places.length === 0) return { [random.of(texts)[1]]: random.of(values)[1] }
    spoilt = changedAt(spoilt, random.of(places), (holder, key) => {
      if (random.below(5) === 0) delete holder[key]
      else holder[key] = anything(holder[key], random)
    })
  }
  return spoilt
}

/** A method that may be wrong. The operation decides which ones are, so any response is accepted. */
const methodFor = ({ method }: Operation, random: Random): string =>
  random.below(10) === 0 ? random.of(METHODS) : method

/** A request with several random modifications. */
export function mutant(base: Base, random: Random): Shot {
  const { operation } = base
  const whole = shotOf(base, { what: 'mutated', by: random.of(operation.ways), method: methodFor(operation, random) })
  const target = random.below(2) === 0 ? spoiltQuery(base, random) : whole.target
  let { body } = whole
  if (operation.takes === 'json' && random.below(4) > 0)
    body = Buffer.from(JSON.stringify(spoiltBody({ ...operation.optional, ...(base.body as object) }, random)))
  if (body && random.below(4) === 0) body = flip(body, random)
  return { ...whole, target, body }
}
