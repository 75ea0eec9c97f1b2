import type { AnyAction } from '../../src/contract/contract.ts'
import type { Answer, Params } from '../../src/contract/define.ts'
import { syncData } from '../../src/contract/sync-data.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { hashToken, newToken } from '../../src/domain/accounts/tokens.ts'
import { insertAccount } from '../../src/storage/accounts/accounts.ts'
import type { Database } from '../../src/storage/engine/database.ts'
import { replaceToken } from '../../src/storage/accounts/device-tokens.ts'
import type { TestClock } from './clock.ts'
import { request, requestOf, type Reply, type Sent } from './request.ts'

type Pushed = Answer<typeof syncData.actions.push>
type Page = Omit<Answer<typeof syncData.actions.delta>, 'changes'> & { changes: Change[] }
export type Change = { table: string; operation: 'INSERT' | 'UPDATE' | 'DELETE'; data: Row; cursor: number }
/** A row with any columns. */
export type Row = { id: number; [column: string]: unknown }
type Everything = Omit<Answer<typeof syncData.actions.initial_sync>, 'data'> & { data: Record<string, Row[]> }
type Manifest = Answer<typeof syncFiles.actions.manifest>
type Uploaded = Answer<typeof syncFiles.actions.upload>
type Operations = Params<typeof syncData.actions.push>['operations']

/** Options of a request besides its parameters. */
export type More = Omit<Sent, 'query'>

/** A client of a server, with a device token unless stated otherwise. */
export interface Client {
  /** Sends any request with the client's credentials. */
  send(path: string, sent?: Sent): Promise<Reply>
  /** Calls an action; returns every response, also errors. */
  call(action: AnyAction, params?: object, more?: More): Promise<Reply>
  /** Calls an action and returns its response; throws on errors. */
  ask<A extends AnyAction>(action: A, params: Params<A>, more?: More): Promise<Answer<A>>

  push(...operations: Operations): Promise<Pushed>
  delta(cursor: number, more?: { limit?: number; wait?: number }): Promise<Page>
  /** All rows, and the cursor. */
  everything(): Promise<Everything>
  manifest(): Promise<Manifest>
  /** Uploads a file; throws on errors. */
  put(path: string, content: string | Uint8Array, query?: object, headers?: Record<string, string>): Promise<Uploaded>
  /** Uploads a file; returns every response, also errors. */
  upload(path: string, content: Sent['body'], query?: object, headers?: Record<string, string>): Promise<Reply>
  download(path: string, headers?: Record<string, string>, method?: string): Promise<Reply>
}

export interface Account extends Client {
  id: number
  username: string
  token: string
  /** Another device of the same user. */
  another(): Promise<Account>
}

export interface AccountOptions {
  username?: string
  role?: 'admin' | 'user'
  /** Bytes. */
  quota?: number
  /** Whether the device token may install code, as with `svc token mint --allow code`. */
  plantsCode?: boolean
}

interface Place {
  url: string
  database: Database
  clock: TestClock
}

let accounts = 0
let devices = 0

/** Creates an account with one device directly in the database. */
export async function makeAccount(place: Place, options: AccountOptions = {}): Promise<Account> {
  const { username = `user-${++accounts}`, role = 'user', quota = null, plantsCode = false } = options
  const row = {
    username,
    display_name: username,
    avatar_color: '#336699',
    role,
    password_hash: '-',
    quota_bytes: quota,
  }
  const id = await place.database.write('instance', (tx) => insertAccount(tx, row, place.clock.now()))
  if (id === undefined) throw new Error(`There is a user ${username} already.`)
  return makeDevice(place, id, username, plantsCode)
}

async function makeDevice(place: Place, id: number, username: string, plantsCode = false): Promise<Account> {
  const { url, database, clock } = place
  const token = newToken()
  const now = clock.now()
  const device = { device_id: `device-${++devices}`, device_name: 'Laptop', last_ip: null, expires_at: null }
  const stamps = { created_at: now, last_used_at: now }
  const allows_code = plantsCode ? 1 : 0
  const row = { user_id: id, token_hash: hashToken(token), allows_code, ...device, ...stamps } as const
  await database.write('instance', (tx) => replaceToken(tx, row, { now, idleSince: -1, madeSince: -1 }, 20))

  return { id, username, token, another: () => makeDevice(place, id, username), ...clientOf(url, token) }
}

export const clientOf = (url: string, token: string): Client => clientWith(url, { token })

/** A client with these credentials, or with none. */
export function clientWith(url: string, { headers, ...credentials }: Pick<Sent, 'token' | 'headers'> = {}): Client {
  const send: Client['send'] = (path, sent = {}) =>
    request(url, path, { ...credentials, ...sent, headers: { ...headers, ...sent.headers } })

  const call: Client['call'] = (action, params = {}, more = {}) => send(...requestOf(action, params, more))

  const ask: Client['ask'] = async (action, params, more) => {
    const reply = await call(action, params, more)
    if (reply.status !== (action.status ?? 200))
      throw new Error(`${action.name} answered ${reply.status}: ${reply.bytes.toString()}`)
    return reply.json as never
  }

  const { upload, download, manifest } = syncFiles.actions
  return {
    send,
    call,
    ask,
    push: (...operations) => ask(syncData.actions.push, { operations }),
    delta: (cursor, more) => ask(syncData.actions.delta, { cursor, ...more }),
    everything: () => ask(syncData.actions.initial_sync, {}),
    manifest: () => ask(manifest, {}),
    put: (path, content, query = {}, headers = {}) => ask(upload, { path, ...query }, { body: content, headers }),
    upload: (path, content, query = {}, headers = {}) => call(upload, { path, ...query }, { body: content, headers }),
    download: (path, headers = {}, method = 'GET') => call(download, { path }, { headers, method }),
  }
}
