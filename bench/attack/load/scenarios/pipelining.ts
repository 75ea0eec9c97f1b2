import { once } from 'node:events'
import type { Scenario } from '../scenario.ts'

/** Thousands of pipelined requests on one connection. */
export const pipelining: Scenario = {
  name: 'pipelining',
  async run({ open, repeat, size, tokens }) {
    const one = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${more}\r\n`
    const requests = `${one('/api/filesystem.php?action=list&path=/', `authorization: Bearer ${tokens[0]}\r\n`)}${one('/api/sync/status.php?action=ping')}`
    const all = requests.repeat(size(2_000, 300)) + one('/healthz', 'connection: close\r\n')
    await repeat({ atOnce: 8, most: size(64, 16) }, async () => {
      const { socket, told } = await open()
      socket.once('end', () => socket.end())
      if (!socket.write(all)) await Promise.race([once(socket, 'drain'), told])
      await told
    })
  },
  allowed: /^(200|429|no answer)/,
  reached: /^(200|no answer)$/,
}
