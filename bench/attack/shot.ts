import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Operation, Way } from './operations.ts'

/** One request and what is wrong with it. */
export interface Shot {
  operation: Operation
  /** What makes it an attack. */
  what: string
  method: string
  /** Path and query as they go over the wire. */
  target: string
  /** Whose credentials go with it. */
  by: Way
  headers: Record<string, string>
  body: Buffer | undefined
  /** Whether only a refusal is a right answer. */
  refuse: boolean
}

const isPlain = (body: Buffer): boolean => {
  const text = body.toString()
  return Buffer.from(text).equals(body) && !/\p{Cc}/u.test(text)
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Largest body that is shown rather than kept in a file, in bytes. */
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

/** A shot as a command that repeats it; bodies that are too long stand in a file. */
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
