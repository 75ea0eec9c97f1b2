import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Operation, Way } from './operations.ts'

/** A request and its modification. */
export interface Shot {
  operation: Operation
  /** Describes the modification. */
  what: string
  method: string
  /** Path and query, unescaped. */
  target: string
  /** The credentials to send. */
  by: Way
  headers: Record<string, string>
  body: Buffer | undefined
  /** Whether the request must be refused. */
  refuse: boolean
}

const isPlain = (body: Buffer): boolean => {
  const text = body.toString()
  return Buffer.from(text).equals(body) && !/\p{Cc}/u.test(text)
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Largest body that is printed instead of stored in a file, bytes. */
const SHOWN = 4_096

let files = 0

function sending(body: Buffer): { before: string; args: string[] } {
  if (body.length <= SHOWN && isPlain(body)) return { before: '', args: ['--data-raw', quoted(body.toString())] }
  if (body.length <= SHOWN)
    return { before: `echo ${body.toString('base64')} | base64 -d | `, args: ['--data-binary', '@-'] }
  const file = join(tmpdir(), `svc-attack-${process.pid}-${++files}.body`)
  writeFileSync(file, body)
  return { before: '', args: ['--data-binary', `@${file}`] }
}

const credentials: Record<Way, string[]> = {
  device: ['-H "Authorization: Bearer $SVC_TOKEN"'],
  session: ['-H "Cookie: PHPSESSID=$SVC_COOKIE"'],
  nobody: [],
}

/** A curl command that repeats a request; long bodies are stored in a file. */
export function curlOf({ method, target, by, headers, body }: Shot): string {
  const { before, args } = body ? sending(body) : { before: '', args: [] }
  const csrf = by === 'session' && method !== 'GET' && !('x-csrf-token' in headers)
  return [
    `${before}curl -sS --path-as-is -X ${method}`,
    ...credentials[by],
    ...(csrf ? ['-H "X-CSRF-Token: $SVC_CSRF"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...args,
    `"$SVC_URL"${quoted(target)}`,
  ].join(' ')
}
