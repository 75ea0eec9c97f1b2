import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A connection to a server that can be interrupted. */
export interface Line {
  url: string
  /** Ends every connection at once, whatever it is transferring. */
  cut(): void
  /** The same with a reset (RST), as from a firewall or a machine that started again. */
  reset(): void
  /** Drops all data on existing and new connections; neither end is notified. */
  silence(): void
  /** New connections work again; silenced ones stay silent. */
  restore(): void
}

/** A proxy to a server for one test, which closes it. */
export async function lineOfTest(to: string, host = '127.0.0.1'): Promise<Line> {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Cutting causes an error at both ends.
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
  server.listen(0, host)
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
  const reset = (): void => sockets.forEach((socket) => socket.resetAndDestroy())
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, cut, reset, silence, restore }
}
