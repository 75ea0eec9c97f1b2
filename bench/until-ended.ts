import { once } from 'node:events'
import type { Server } from 'node:http'

/** Serves until the process is told to end; connections stay open while another program is measured. */
export async function serveUntilEnded(server: Server, port: number): Promise<void> {
  server.keepAliveTimeout = 0
  server.listen(port, '127.0.0.1')
  process.once('SIGTERM', () => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
}
