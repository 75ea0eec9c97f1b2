import { once, setMaxListeners } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'

/** The attacker: one account with several devices and its own address. */
export interface Attacker {
  username: string
  tokens: readonly string[]
  address: string
}

export interface Sent {
  method?: 'GET' | 'HEAD' | 'POST'
  /** Path and query. */
  path: string
  type?: string
  body?: Buffer | string
  /** Whether it comes without a token. */
  isAnonymous?: boolean
  /** A source address other than the attacker's own. */
  address?: string
}

/** Tools of a scenario. All requests are counted by outcome and end with the attack. */
export interface Attack extends Attacker {
  url: string
  /** One of two sizes: full or short run. */
  size(full: number, short: number): number
  /** Sends a request, reads the whole response and counts it. */
  ask(sent: Sent): Promise<void>
  /** Opens a raw socket. `told` counts the first status line, or its absence. */
  open(address?: string): Promise<{ socket: Socket; told: Promise<void> }>
  /** Repeats `work` concurrently until the time is over or it was called `most` times. */
  repeat(options: { atOnce: number; most: number }, work: (number: number) => Promise<unknown>): Promise<void>
  /** Resolves when the time is over. */
  over: Promise<void>
}

/** Longest wait for responses after the time is over, seconds. */
const GRACE = 60

const isUsual = (status: number): boolean => status < 400

/** Name of a failure: its status and code. */
function failureOf(status: number, text: string): string {
  const code = /"code":"(\w+)"/.exec(text)?.[1]
  return code === undefined ? String(status) : `${status} ${code}`
}

interface Options extends Attacker {
  url: string
  isShort: boolean
  seconds: number
}

export function beginAttack({ url, isShort, seconds, ...attacker }: Options) {
  const outcomes = new Map<string, number>()
  const { hostname, port } = new URL(url)
  const agents = new Map<string, Agent>()
  const sockets = new Set<Socket>()
  let isOver = false
  let requests = 0
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  const abandoned = new AbortController()
  setMaxListeners(0, abandoned.signal)

  function agentFor(localAddress: string): Agent {
    let agent = agents.get(localAddress)
    if (!agent)
      agents.set(localAddress, (agent = new Agent({ keepAlive: true, maxSockets: 64, localAddress } as object)))
    return agent
  }

  const ask = ({ method, path, type, body, isAnonymous, address = attacker.address }: Sent): Promise<void> =>
    new Promise((resolve) => {
      const token = attacker.tokens[requests++ % attacker.tokens.length]!
      const headers = {
        ...(isAnonymous ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined
          ? {}
          : { 'content-type': type ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
      }
      let counted = false
      const tell = (outcome: string) => {
        if (!counted) count(outcome)
        counted = true
        resolve()
      }
      const options = { agent: agentFor(address), hostname, port, path, headers, signal: abandoned.signal }
      const sent = request({ ...options, method: method ?? (body === undefined ? 'GET' : 'POST') }, (answer) => {
        const status = answer.statusCode!
        let text = ''
        answer.on('data', (piece: Buffer) => (text ||= isUsual(status) ? '' : piece.toString()))
        answer.on('end', () => tell(isUsual(status) ? String(status) : failureOf(status, text)))
        answer.on('error', () => tell(`${status} broken off`))
      })
      sent.on('error', () => tell(abandoned.signal.aborted ? 'no answer' : 'connection ended'))
      sent.end(body)
    })

  async function open(address = attacker.address) {
    const socket = connect({ host: hostname, port: Number(port), localAddress: address, allowHalfOpen: true })
    sockets.add(socket)
    socket.on('error', () => undefined)
    let received = ''
    const told = new Promise<void>((resolve) => {
      socket.on('data', (piece: Buffer) => {
        if (received.length < 4_096) received += piece.toString('latin1')
      })
      socket.once('close', () => {
        sockets.delete(socket)
        const status = Number(/^HTTP\/1\.1 (?!100)(\d{3})/m.exec(received)?.[1] ?? 0)
        count(status === 0 ? 'no answer' : isUsual(status) ? String(status) : failureOf(status, received))
        resolve()
      })
    })
    await Promise.race([once(socket, 'connect').catch(() => undefined), told])
    return { socket, told }
  }

  const over = new Promise<void>((resolve) => {
    setTimeout(() => {
      isOver = true
      resolve()
    }, seconds * 1_000)
  })

  async function repeat(
    { atOnce, most }: { atOnce: number; most: number },
    work: (number: number) => Promise<unknown>,
  ) {
    let number = 0
    const run = async () => {
      while (!isOver && number < most) await work(number++)
    }
    await Promise.all(Array.from({ length: atOnce }, run))
  }

  const attack: Attack = { ...attacker, url, size: (full, short) => (isShort ? short : full), ask, open, repeat, over }
  return {
    attack,
    outcomes,
    /** Waits for `work`, and closes what is still open some time after the end. */
    async end(work: Promise<void>): Promise<void> {
      const timer = setTimeout(
        () => {
          abandoned.abort()
          for (const socket of sockets) socket.destroy()
        },
        (seconds + GRACE) * 1_000,
      )
      await work.finally(() => clearTimeout(timer))
      for (const agent of agents.values()) agent.destroy()
      for (const socket of sockets) socket.destroy()
    },
  }
}
