import { requestTo, withConnections } from './connection.ts'
import { makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { interleave, rate, share } from './rounds.ts'
import { numbers } from './samples.ts'
import { startBareServer } from './server.ts'

const REQUESTS = 10_000
const CONNECTIONS = 16

/** The cost of everything around an action: routing, checks, headers, the log. */
export const ping: Figure = {
  name: 'ping',
  unit: 'requests/s',
  peer: 'a bare Fastify route with the same logger',
  wanted: { least: 0.8 },
  async measure(workspace) {
    const bare = await startBareServer(workspace)
    const run = async (url: string, path: string) => {
      const request = requestTo(url, { path })
      return withConnections(url, CONNECTIONS, (connections) =>
        rate(REQUESTS, () => share(connections, numbers(REQUESTS), (connection) => connection.ask(request))),
      )
    }
    try {
      return await withService(workspace, await makeAccount(workspace), ({ url }) =>
        interleave({
          ours: () => run(url, '/api/sync/status.php?action=ping'),
          peer: () => run(bare.url, '/ping'),
          rounds: 9,
        }),
      )
    } finally {
      await bare.stop()
    }
  },
}
