import pg from 'pg'
import { Busy } from '../../base/errors.ts'
import { postgresAddress } from './postgres-address.ts'
import { fromPostgresError } from './postgres-errors.ts'

// Several hosts, of which one is the primary: connections go to the host that worked last, and to the next one when it does not answer
// or is a standby. Which host is the primary is known only to Postgres (and to what manages it, such as Patroni).

export interface PostgresHosts {
  /** A client of the host that worked last. */
  Client: typeof pg.Client
  /** The configuration of another connection to the host of this client. */
  configFor(client: pg.ClientBase): pg.ClientConfig
  /** Connects by `attempt`, once for each host until one takes the connection. Throws the converted error of the last one. */
  connect<T>(attempt: () => Promise<T>): Promise<T>
}

export function makePostgresHosts(address: string, config: pg.ClientConfig): PostgresHosts {
  const { urls } = postgresAddress(address)
  let current = urls[0]!

  class Client extends pg.Client {
    readonly url: string
    constructor(options?: pg.ClientConfig) {
      const url = current
      super({ ...options, connectionString: url })
      this.url = url
    }
  }

  return {
    Client,
    configFor: (client) => ({ ...config, connectionString: client instanceof Client ? client.url : current }),
    async connect(attempt) {
      for (let left = urls.length; ; left -= 1) {
        const tried = current
        try {
          return await attempt()
        } catch (thrown) {
          const error = fromPostgresError(thrown)
          if (!(error instanceof Busy)) throw thrown
          // Another connection may have moved on meanwhile.
          if (current === tried) current = urls[(urls.indexOf(tried) + 1) % urls.length]!
          if (left === 1) throw thrown
        }
      }
    },
  }
}
