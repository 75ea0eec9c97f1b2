import { createSocket } from 'node:dgram'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * Sockets on loopback that count packets, and connections that send something; silent connections are not counted.
 * Responds with a page.
 */
export interface ListeningPost {
  udp: number
  tcp: number
  heard: { packets: number; requests: number }
  close(): Promise<void>
}

export async function listeningPost(): Promise<ListeningPost> {
  const heard = { packets: 0, requests: 0 }
  const udp = createSocket('udp4', () => heard.packets++)
  const open = new Set<Socket>()
  const tcp = createServer((socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => undefined)
    socket.once('data', () => {
      heard.requests++
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<body>')
    })
  })
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
  return {
    udp: udp.address().port,
    tcp: (tcp.address() as AddressInfo).port,
    heard,
    async close() {
      await new Promise<void>((resolve) => udp.close(resolve))
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => tcp.close(resolve))
    },
  }
}
