import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

/** A response; the body in pieces, since most figures only count its bytes. */
export interface Answer {
  status: number
  body: Buffer[]
}

/** A persistent connection for one request at a time, cheap enough not to disturb the measurement. */
export interface Connection {
  /**
   * Sends a request (see `requestTo`) and resolves with its response, which must have a Content-Length or be chunked; the
   * body of a chunked one is not decoded. Rejects unless it is a 200 or 201.
   */
  ask(request: Buffer): Promise<Answer>
  close(): void
}

export interface Request {
  method?: 'GET' | 'POST' | 'PUT'
  /** Path and query. */
  path: string
  token?: string
  /** The cookie of a browser session. */
  cookie?: string
  type?: string
  body?: Buffer
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** A serialized request. */
export function requestTo(url: string, { method = 'GET', path, token, cookie, type, body }: Request): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    ...(token ? [`authorization: Bearer ${token}`] : []),
    ...(cookie ? [`cookie: PHPSESSID=${cookie}`] : []),
    ...(body ? [`content-type: ${type ?? 'application/octet-stream'}`, `content-length: ${body.length}`] : []),
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)])
}

/** Connects to the server at a URL. */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return over(socket)
}

function over(socket: Socket): Connection {
  let head: Buffer | undefined
  let answer: Answer | undefined
  let missing = 0
  let isChunked = false
  let settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined

  function begin(bytes: Buffer): void {
    head = head ? Buffer.concat([head, bytes]) : bytes
    const end = head.indexOf(END_OF_HEAD)
    if (end < 0) return
    const text = head.toString('latin1', 0, end)
    const length = /\ncontent-length: *(\d+)/i.exec(text)?.[1]
    isChunked = /\ntransfer-encoding: *chunked/i.test(text)
    if (length === undefined && !isChunked) return fail(new Error(`The answer has no length:\n${text}`))
    answer = { status: Number(text.slice(9, 12)), body: [] }
    missing = Number(length ?? 0)
    const rest = head.subarray(end + END_OF_HEAD.length)
    head = undefined
    take(rest)
  }

  function take(bytes: Buffer): void {
    answer!.body.push(bytes)
    missing -= bytes.length
    const isOver = isChunked ? bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) : missing <= 0
    if (!isOver) return
    const { resolve, reject } = settle!
    const complete = answer!
    settle = answer = undefined
    if (complete.status === 200 || complete.status === 201) resolve(complete)
    else reject(new Error(`The server answered ${complete.status}: ${Buffer.concat(complete.body).toString()}`))
  }

  function fail(error: Error): void {
    settle?.reject(error)
    settle = undefined
  }

  socket.on('data', (bytes: Buffer) => (answer ? take(bytes) : begin(bytes)))
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('The server closed the connection.')))
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject }
        if (socket.destroyed) fail(new Error('The server closed the connection.'))
        else socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}

/** Opens several connections for the duration of `work`. */
export async function withConnections<T>(
  url: string,
  count: number,
  work: (connections: Connection[]) => Promise<T>,
): Promise<T> {
  const connections = await Promise.all(Array.from({ length: count }, () => openConnection(url)))
  try {
    return await work(connections)
  } finally {
    for (const connection of connections) connection.close()
  }
}
