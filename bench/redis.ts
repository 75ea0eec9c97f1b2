import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { eventually, freePort, isInstalled, withProgram } from './peers.ts'
import type { Workspace } from './workspace.ts'

const REDIS = 'redis-server'

/** Undefined if Redis is installed. */
export const noRedis = (): string | undefined => (isInstalled(REDIS) ? undefined : 'redis-server is not installed')

/** A connection to Redis. */
export interface RedisClient {
  /** Sends the commands at once and resolves when each is answered. Rejects if one fails. */
  send(commands: readonly (readonly string[])[]): Promise<void>
  close(): void
}

/** A command in RESP, the protocol of Redis. */
const encode = (command: readonly string[]): string =>
  `*${command.length}\r\n${command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`

/** The end of the reply that starts at `start`, or -1 if a part of it is missing. Throws the text of an error reply. */
function endOfReply(bytes: Buffer, start: number): number {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd < 0) return -1
  const line = bytes.toString('latin1', start + 1, lineEnd)
  const next = lineEnd + 2
  switch (String.fromCharCode(bytes[start]!)) {
    case '-':
      throw new Error(`Redis answered: ${line}`)
    case '$': {
      const end = next + (line === '-1' ? 0 : Number(line) + 2)
      return end <= bytes.length ? end : -1
    }
    case '*': {
      let end = next
      for (let left = Number(line); left > 0 && end >= 0; left--) end = endOfReply(bytes, end)
      return end
    }
    default:
      return next
  }
}

function clientOver(socket: Socket): RedisClient {
  return {
    send: (commands) =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = []
        let missing = commands.length
        const receive = (chunk: Buffer) => {
          chunks.push(chunk)
          // A reply that is not complete ends without this: parsing it again for each chunk would slow it down.
          if (chunk.at(-1) !== 10) return
          const bytes = Buffer.concat(chunks.splice(0))
          let at = 0
          try {
            for (let end = endOfReply(bytes, at); end >= 0 && missing > 0; end = endOfReply(bytes, at)) {
              at = end
              missing -= 1
              if (at === bytes.length) break
            }
          } catch (error) {
            missing = 0
            reject(error as Error)
          }
          if (at < bytes.length) chunks.push(bytes.subarray(at))
          if (missing > 0) return
          socket.off('data', receive)
          resolve()
        }
        socket.on('data', receive)
        socket.write(commands.map(encode).join(''))
      }),
    close: () => socket.destroy(),
  }
}

async function open(port: number): Promise<RedisClient> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  return clientOver(socket)
}

/** Runs `work` with connections to a new Redis that flushes its log before it answers. */
export async function withRedis<T>(
  workspace: Workspace,
  clients: number,
  work: (clients: RedisClient[]) => Promise<T>,
): Promise<T> {
  const port = await freePort()
  const storage = ['--dir', workspace.folder('redis'), '--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  const args = ['--bind', '127.0.0.1', '--port', String(port), ...storage]
  return withProgram(workspace, REDIS, args, async () => {
    const opened: RedisClient[] = []
    for (let client = 0; client < clients; client++) opened.push(await eventually(() => open(port)))
    const result = await work(opened)
    for (const client of opened) client.close()
    return result
  })
}
