import { JSON_TYPE, shotOf, targetOf, type Base } from './base.ts'
import { archive, BOUNDARY, form } from './bytes.ts'
import { bodies, contentTypes, fileNames, queries, texts, values, type Hostile } from './hostile.ts'
import type { Way } from './operations.ts'
import { placesIn, put, without, type Place } from './places.ts'
import type { Shot } from './shot.ts'
import type { Attacker, Target } from './target.ts'

/** Every query parameter with every hostile value. */
function* queryShots(base: Base, foreign: readonly number[]): Generator<Shot> {
  const { operation, query } = base
  const all: Hostile<string>[] = [
    ...texts,
    ...foreign.map((id): Hostile<string> => [`${id}, somebody else's`, String(id)]),
  ]
  const optional = operation.takes === 'json' ? {} : operation.optional
  for (const name of Object.keys({ ...query, ...optional })) {
    const { [name]: _left, ...rest } = query
    yield shotOf(base, { what: `without ${name}`, target: targetOf(operation, rest) })
    for (const [value, text] of all)
      yield shotOf(base, { what: `${name} is ${value}`, target: targetOf(operation, { ...query, [name]: text }) })
    for (const trick of queries) {
      const more = trick.replaceAll('NAME', name)
      yield shotOf(base, { what: `query ${more.slice(0, 60)}`, target: targetOf(operation, rest, more) })
      yield shotOf(base, {
        what: `beside ${name}, query ${more.slice(0, 60)}`,
        target: targetOf(operation, query, more),
      })
    }
  }
}

/** Every position of the JSON body with every hostile value. */
function* bodyShots(base: Base, foreign: readonly number[]): Generator<Shot> {
  const ids = foreign.map((id): Hostile<unknown> => [`${id}, somebody else's`, id])
  const whole = { ...base.operation.optional, ...(base.body as object) }
  const shot = (what: string, body: unknown) => shotOf(base, { what, body: Buffer.from(JSON.stringify(body)) })
  yield shot('with everything optional', whole)
  const added: Place[] = Object.keys(base.operation.optional).map((name) => [name])
  for (const place of [...placesIn(base.body), ...added]) {
    const name = place.join('.')
    yield shot(`without ${name}`, without(whole, place))
    for (const [value, one] of [...texts, ...values, ...ids])
      yield shot(`${name} is ${value}`, put(base.body, place, one))
  }
  for (const key of ['user_id', 'id', 'role', 'is_system', 'is_admin', 'created_by', 'version', 'sql', 'isAdmin'])
    yield shot(`with ${key} besides`, { ...(base.body as object), [key]: foreign[0] })
}

/** Invalid bodies of every content type. */
function* rawShots(base: Base): Generator<Shot> {
  const { operation } = base
  if (operation.takes === 'nothing') return
  for (const [what, text] of bodies) yield shotOf(base, { what: `the body is ${what}`, body: Buffer.from(text) })
  const invalid = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0xc0, 0x22, 0x7d])
  yield shotOf(base, { what: 'the body is no UTF-8', body: invalid })
  for (const type of contentTypes)
    yield shotOf(base, {
      what: `the type is ${type.slice(0, 60) || 'missing'}`,
      headers: { 'content-type': type },
      refuse: operation.takes === 'json' && !type.startsWith(JSON_TYPE),
    })
  yield shotOf(base, { what: 'compressed, as it says', headers: { 'content-encoding': 'gzip' } })
}

/** Files with invalid names, in a form and in an archive. */
function* fileShots(base: Base): Generator<Shot> {
  const { operation } = base
  if (operation.takes !== 'bytes') return
  const multipart = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  const tar = { 'content-type': 'application/x-tar' }
  for (const name of fileNames) {
    const what = JSON.stringify(name.slice(0, 40))
    yield shotOf(base, { what: `a form with the file ${what}`, headers: multipart, body: form(name) })
    yield shotOf(base, { what: `an archive with the file ${what}`, headers: tar, body: archive(name) })
  }
  const whole = form('a.txt')
  const cut = whole.subarray(0, whole.length - 10)
  const field = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n`
  const forms: Record<string, Buffer> = {
    'without its end': cut,
    'with 1,000 fields': Buffer.from(field.repeat(1_000) + whole.toString()),
    'with two files': Buffer.concat([cut.subarray(0, cut.indexOf('\r\n--', 10)), Buffer.from('\r\n'), whole]),
    'without a part': Buffer.from(`--${BOUNDARY}--\r\n`),
    'with a part without a name': Buffer.from(`--${BOUNDARY}\r\n\r\nx\r\n--${BOUNDARY}--\r\n`),
    'with a field of 1 MB': Buffer.from(field.replace('y', 'y'.repeat(1_000_000)) + whole.toString()),
  }
  for (const [what, body] of Object.entries(forms))
    yield shotOf(base, { what: `a form ${what}`, headers: multipart, body })
  const packed = archive('a.txt')
  for (const at of [1, 100, 124, 148, 156, 257, 500, 511, 512, 600, 1_024])
    yield shotOf(base, { what: `an archive cut after ${at}`, headers: tar, body: packed.subarray(0, at) })
  for (const at of [0, 100, 124, 130, 148, 156, 257, 345]) {
    const broken = Buffer.from(packed)
    broken[at] = 0xff
    yield shotOf(base, { what: `an archive broken at ${at}`, headers: tar, body: broken })
  }
}

/** Wrong methods, and inconsistent headers. */
function* protocolShots(base: Base): Generator<Shot> {
  const { method } = base.operation
  for (const other of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])
    if (other !== method)
      yield shotOf(base, {
        what: `${other} instead of ${method}`,
        method: other,
        refuse: ['PUT', 'PATCH', 'DELETE', 'PROPFIND'].includes(other),
      })
  const headers: Record<string, string> = {
    range: 'bytes=0-0,1-1,2-2,-1,9999999999999999999-',
    'if-none-match': `"${'a'.repeat(5_000)}", *, W/"x`,
    'if-match': '*',
    'if-range': "' OR 1=1",
    'idempotency-key': "'; DROP TABLE users; --",
    'x-file-mtime': '-1e999',
    'x-file-sha256': '../../etc/passwd',
    'content-sha256': "'",
    'x-forwarded-for': '127.0.0.1, "><script>',
    'x-http-method-override': 'DELETE',
    'x-original-url': '/metrics',
    accept: 'text/html',
    'accept-encoding': 'gzip, br, x'.repeat(100),
    'user-agent': `' OR 1=1 -- ${'%'.repeat(1_000)}`,
    expect: '200-ok',
    forwarded: 'for="_x"',
    'x-long': 'a'.repeat(15_000),
    'x-longer': 'a'.repeat(30_000),
  }
  for (const [name, value] of Object.entries(headers))
    yield shotOf(base, { what: `the header ${name}: ${value.slice(0, 40)}`, headers: { [name]: value } })
}

const HEX = 'ab'.repeat(32)

/** Invalid credentials. All of these must be refused. */
function* strangerShots(base: Base, { token, cookie }: Attacker): Generator<Shot> {
  const { ways, method } = base.operation
  if (ways[0] === 'nobody') return
  const refused = (what: string, headers: Record<string, string>, by: Way = 'nobody') =>
    shotOf(base, { what, by, headers, refuse: true })
  yield refused('without credentials', {})
  const bearers = [
    'Bearer',
    'Bearer  ',
    `Bearer ${HEX}`,
    `Bearer p_${HEX}`,
    `Bearer ${token.slice(1)}`,
    `Bearer ${token}0`,
  ]
  const others = [
    `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`,
    token,
    `Bearer ${cookie}`,
    "Bearer ' OR 1=1 --",
  ]
  for (const authorization of [...bearers, ...others]) yield refused('with a token that is none', { authorization })
  const cookies = [
    `PHPSESSID=${HEX}`,
    `PHPSESSID=p_${HEX}`,
    `PHPSESSID=${token}`,
    `PHPSESSID=${cookie}; PHPSESSID=${HEX}`,
  ]
  for (const one of [...cookies, 'PHPSESSID=', `phpsessid=${cookie}`, 'PHPSESSID=__proto__', `PHPSESSID="${cookie}`])
    yield refused('with a cookie that is none', { cookie: one })
  if (!ways.includes('device')) yield refused('with a device token', {}, 'device')
  if (!ways.includes('session')) return void (yield refused('with a session', {}, 'session'))
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }])
    yield refused('from a page of another site', headers, 'session')
  if (method !== 'POST') return
  for (const token of ['', HEX, 'undefined', '__proto__', cookie])
    yield refused('with a CSRF token that is none', { 'x-csrf-token': token }, 'session')
}

export type Shots = (base: Base, target: Target, attacker: Attacker) => Iterable<Shot>

/** All kinds of requests in order. Each kind gets a new attacker, unaffected by earlier ones. */
export const kinds: readonly Shots[] = [
  (base, _, attacker) => strangerShots(base, attacker),
  (base) => protocolShots(base),
  (base) => rawShots(base),
  (base) => fileShots(base),
  (base, { foreign }) => queryShots(base, foreign),
  (base, { foreign }) => (base.operation.takes === 'json' ? bodyShots(base, foreign) : []),
]
