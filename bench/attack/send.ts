import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import type { Attacker } from './target.ts'
import type { Shot } from './shot.ts'

/** A complete response. */
export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  /** From the first byte sent to the last one received. */
  ms: number
}

/** A response, or the reason for none: a long poll that waits, or a broken connection. */
export type Outcome = { reply: Reply } | { held: true } | { broke: string }

/** Long polls are aborted after this time. */
const HOLD_MS = 300

/** Request timeout, ms. */
const PATIENCE_MS = 30_000

/** Sends requests over a persistent connection, which is replaced when it breaks. */
export interface Gun {
  fire(shot: Shot, attacker: Attacker): Promise<Outcome>
  close(): void
}

function headersOf({ by, headers, method, body }: Shot, { token, cookie, csrf }: Attacker): Record<string, string> {
  const all: Record<string, string> = { ...headers }
  if (by === 'device') all['authorization'] ??= `Bearer ${token}`
  if (by === 'session') {
    all['cookie'] ??= `PHPSESSID=${cookie}`
    if (method !== 'GET') all['x-csrf-token'] ??= csrf
  }
  // An empty value removes a header.
  for (const [name, value] of Object.entries(all)) if (value === '') delete all[name]
  if (body) all['content-length'] = String(body.length)
  return all
}

const isHeld = (target: string): boolean => /[?&]wait=0*[1-9]/.test(target)

export function makeGun(url: string): Gun {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    fire: (shot, attacker) =>
      new Promise((resolve) => {
        const start = performance.now()
        const options = { agent, hostname, port, method: shot.method, path: shot.target }
        const sent = request({ ...options, headers: headersOf(shot, attacker) }, (answer) => {
          const pieces: Buffer[] = []
          answer.on('data', (piece: Buffer) => pieces.push(piece))
          answer.on('error', (error) => resolve({ broke: error.message }))
          answer.on('end', () => {
            const { statusCode: status = 0, headers } = answer
            resolve({ reply: { status, headers, body: Buffer.concat(pieces), ms: performance.now() - start } })
          })
        })
        const held = isHeld(shot.target)
        sent.setTimeout(held ? HOLD_MS : PATIENCE_MS, () => {
          resolve(held ? { held: true } : { broke: `no answer within ${PATIENCE_MS} ms` })
          sent.destroy()
        })
        sent.on('error', (error) => resolve({ broke: error.message }))
        sent.end(shot.body)
      }),
    close: () => agent.destroy(),
  }
}
