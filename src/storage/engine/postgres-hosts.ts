import pg from 'pg'
import { Busy, DatabaseMoved } from '../../base/errors.ts'
import { postgresAddress } from './postgres-address.ts'
import { fromPostgresError } from './postgres-errors.ts'
import { makePrimarySearch } from './postgres-primary.ts'

// Connections to the primary. When another host becomes the primary, those to all others are closed, also idle ones and those that wait.

export interface PostgresHosts {
  /** A client of the primary, as far as known. */
  Client: typeof pg.Client
  /** The configuration of another connection to the host of this client. */
  configFor(client: pg.ClientBase): pg.ClientConfig
  /** Connects by `attempt`, again if that fails and there is a primary. */
  connect<T>(attempt: () => Promise<T>): Promise<T>
  /** The host of this client does not answer: closes all connections to it. */
  lost(client: pg.ClientBase): void
  /** Throws `Busy` for a standby, and for a primary that was replaced. */
  assertPrimary(client: pg.ClientBase): Promise<void>
  close(): void
}

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void)

export function makePostgresHosts(address: string, config: pg.ClientConfig): PostgresHosts {
  const { urls } = postgresAddress(address)
  const clients = new Set<Client>()
  const primary = makePrimarySearch(urls, config, (url) => closeAll((client) => client.url !== url))

  class Client extends pg.Client {
    readonly url: string
    constructor(options?: pg.ClientConfig) {
      const url = primary.url()
      super({ ...options, connectionString: url })
      this.url = url
      clients.add(this)
      this.once('end', () => clients.delete(this))
    }
    override connect(): Promise<pg.Client>
    override connect(callback: Connected): void
    /** Fails at once while there is no primary. Pools pass a callback. */
    override connect(callback?: Connected): Promise<pg.Client> | void {
      const away = primary.away()
      if (!away) return callback ? super.connect(callback as (error: Error) => void) : super.connect()
      clients.delete(this)
      if (!callback) return Promise.reject(away)
      queueMicrotask(() => (callback as (error: Error) => void)(away))
    }
    /** Closes the connection, whatever it does. */
    destroy(): void {
      ;(this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
    }
  }

  function closeAll(matches: (client: Client) => boolean): void {
    for (const client of clients) if (matches(client)) client.destroy()
  }

  return {
    Client,
    configFor: (client) => ({ ...config, connectionString: client instanceof Client ? client.url : primary.url() }),
    async connect(attempt) {
      await primary.wait()
      try {
        return await attempt()
      } catch (thrown) {
        const error = fromPostgresError(thrown)
        if (!(error instanceof Busy) || error instanceof DatabaseMoved) throw thrown
        if (!primary.away()) await primary.search()
        await primary.wait().catch(() => Promise.reject(thrown as Error))
        return attempt()
      }
    },
    lost(client) {
      if (!(client instanceof Client)) return
      if (client.url === primary.url()) primary.miss(new Busy('The database does not answer. Try again in a moment.'))
      closeAll(({ url }) => url === client.url)
    },
    assertPrimary: (client) => primary.assertPrimary(client, client instanceof Client ? client.url : primary.url()),
    close: () => primary.close(),
  }
}
