import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

/** A connection on which a test writes raw HTTP. */
export interface Raw {
  socket: Socket
  write(data: string | Uint8Array): void
  /** Half-closes the connection. */
  end(): void
  /** Everything received until the server closes the connection. */
  answer(): Promise<string>
  /** Waits until this was received. */
  until(text: string): Promise<string>
  hangUp(): void
}

export async function openRaw(url: string): Promise<Raw> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => (received += text))
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.once('end', () => socket.end())
  await once(socket, 'connect')
  return {
    socket,
    write: (data) => void socket.write(data),
    end: () => void socket.end(),
    async answer() {
      await closed
      return received
    },
    async until(text) {
      while (!received.includes(text) && !socket.destroyed) await Promise.race([once(socket, 'data'), closed])
      return received
    },
    hangUp: () => void socket.destroy(),
  }
}

/** Status and body of a raw response. */
export function readRaw(text: string): { status: number; body: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), body: rest.join('\r\n\r\n') }
}

/** The head of a raw request. */
export const rawHead = (method: string, target: string, headers: Record<string, string | number>): string =>
  `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
