import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A way to a server that can break. */
export interface Line {
  url: string
  /** Ends every connection at once, in the middle of whatever it carries. */
  cut(): void
  /** Lets nothing more through on what is connected, nor on new connections, and tells neither end. */
  silence(): void
  /** Lets new connections through again; those that fell silent stay so. */
  restore(): void
}

/** A line to a server for one test, which closes it. */
export async function lineOfTest(to: string): Promise<Line> {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A line that was cut is an error to both its ends.
    socket.on('error', () => socket.destroy())
    return socket
  }
  let isSilent = false
  const server = createServer((near) => {
    if (isSilent) return void keep(near)
    const far = keep(connect(Number(port), hostname))
    keep(near).pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => sockets.forEach((socket) => socket.destroy())
  onTestFinished(async () => {
    server.close()
    cut()
    await once(server, 'close')
  })
  const silence = (): void => {
    isSilent = true
    for (const socket of sockets) socket.unpipe().pause()
  }
  const restore = (): void => void (isSilent = false)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut, silence, restore }
}
