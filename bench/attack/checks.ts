import type { Operation } from './operations.ts'
import type { Reply } from './send.ts'
import type { Shot } from './shot.ts'
import type { Target } from './target.ts'

/** Statuses permitted for requests that match no operation. */
const OF_THE_PROTOCOL = new Set([400, 404, 405, 413, 414, 415, 431])

/** Server errors that are reported on purpose, if the description names them. */
const MEANT = new Set([503, 507])

/** Patterns of internal details. */
const innards: readonly [string, RegExp][] = [
  ['a stack', /\n?\s+at (?:async )?[\w.<>$ ]+ \(?(?:file:|node:|\/)[^\s)]*:\d+:\d+/],
  ['a place in a source', /\.(?:js|ts|mjs):\d+:\d+/],
  ['a type of error', /\b(?:TypeError|RangeError|ReferenceError|SyntaxError|SqliteError|AssertionError)\b/],
  [
    'an error of the database',
    /SQLITE_[A-Z]+|no such (?:table|column): |(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint/,
  ],
  ['an error of the system', /\b(?:ENOENT|EACCES|EISDIR|ENOTDIR|ENAMETOOLONG|EINVAL|EEXIST)\b/],
  ['a hash of a password', /\$argon2/],
  ['a file of the system', /root:[^:\n]*:0:0:/],
]

const isJson = ({ headers }: Reply): boolean => (headers['content-type'] ?? '').startsWith('application/json')

/** Deviation of an error body from the uniform format; undefined if there is none. */
function misshapen(reply: Reply, codes: ReadonlySet<unknown>): string | undefined {
  if (!isJson(reply)) return `a refusal of type ${reply.headers['content-type']}`
  let body: unknown
  try {
    body = JSON.parse(reply.body.toString())
  } catch {
    return 'a refusal that is no JSON'
  }
  const { ok, success, error, code } = (body ?? {}) as Record<string, unknown>
  if (ok !== false || success !== false) return 'a refusal that does not say ok: false, success: false'
  if (typeof error !== 'string' || error === '') return 'a refusal without a text'
  if (typeof code !== 'string' || !codes.has(code)) return `a refusal with the unknown code ${JSON.stringify(code)}`
  return undefined
}

/** Secrets in a response. */
function shown({ body, headers }: Reply, { canary, places }: Target): string[] {
  const text = `${JSON.stringify(headers)}\n${body.toString()}`
  return [
    ...(text.includes(canary) ? ['something of somebody else'] : []),
    ...places.filter((place) => text.includes(place)).map(() => 'a path of the server'),
    ...innards.filter(([, pattern]) => pattern.test(text)).map(([name]) => name),
  ]
}

const isDeclared = ({ statuses }: Operation, status: number): boolean =>
  statuses.has(status) || OF_THE_PROTOCOL.has(status)

/** Problems of any response. */
export function faultsOf(target: Target, codes: ReadonlySet<unknown>, shot: Shot, reply: Reply): string[] {
  const { status, headers } = reply
  const faults = shown(reply, target).map((what) => `shows ${what}`)
  if (status >= 500 && !(MEANT.has(status) && shot.operation.statuses.has(status))) faults.push(`answers ${status}`)
  if (shot.refuse && status < 400) faults.push(`accepts with ${status} what it must refuse`)
  if (headers['x-injected'] !== undefined) faults.push('lets a value become a header')
  if (headers['x-content-type-options'] !== 'nosniff') {
    // Malformed HTTP is answered below the layer that sets headers.
    if (!OF_THE_PROTOCOL.has(status)) faults.push('lets browsers guess the type')
  }
  if (status >= 400) {
    if (status < 500 && !isDeclared(shot.operation, status))
      faults.push(`answers ${status}, which the description does not name`)
    const shape = shot.method === 'HEAD' ? undefined : misshapen(reply, codes)
    if (shape) faults.push(`gives ${shape}`)
  }
  return faults
}
