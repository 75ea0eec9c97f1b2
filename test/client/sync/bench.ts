import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { MaxDelete } from '../../../src/client/sync/plan/deletion-guard.ts'
import type { Summary, SyncEvent } from '../../../src/client/sync/report/events.ts'
import { makeApi, type Api } from '../../../src/client/api.ts'
import { makeNodeTransport } from '../../../src/client/http/node-transport.ts'
import { initRoot } from '../../../src/client/sync/state/root.ts'
import { runSync } from '../../../src/client/sync/sync-run.ts'
import { contract } from '../../../src/contract/contract.ts'
import type { Account } from '../../support/account.ts'
import { FakeServer } from './fake-server.ts'
import type { AccountIdentity } from '../../../src/client/auth/account-identity.ts'

/** The moment at which tests play: files they write are older, so that no hash is doubted for being too fresh. */
export const NOW = Date.parse('2026-11-21T12:00:00Z')
const LONG_AGO = NOW / 1_000 - 86_400

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-sync-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

let edits = 0

/** Writes a file as a user would; each write gets a time of its own, long ago. */
export function write(root: string, path: string, content: string | Buffer, mtime = LONG_AGO + (edits += 1)): void {
  const place = join(root, path)
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, content)
  utimesSync(place, mtime, mtime)
}

/** Everything in a folder but the engine's own: files with their contents, folders as null, anything else as its kind. */
export function readTree(root: string): Record<string, string | null> {
  const tree: Record<string, string | null> = {}
  const read = (at: string): void => {
    for (const name of readdirSync(join(root, at))) {
      const path = `${at}/${name}`
      if (path === '/.svc') continue
      const stats = lstatSync(join(root, path))
      tree[path] = stats.isFile() ? readFileSync(join(root, path), 'utf8') : stats.isDirectory() ? null : '(other)'
      if (stats.isDirectory()) read(path)
    }
  }
  read('')
  return Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)))
}

type SyncOptions = {
  path?: string
  dryRun?: boolean
  undo?: boolean
  /** Whether the rows of the account are brought up to date too. */
  rows?: boolean
  maxDelete?: MaxDelete
  retry?: number
  signal?: AbortSignal
  token?: string
}

/** A synchronised folder, and what happens to it. */
export interface Client {
  root: string
  stateFolder: string
  owner: AccountIdentity
  events: SyncEvent[]
  /** What the clock says; `sleep` moves it on. */
  time: { now: number }
  slept: number[]
  sync(options?: SyncOptions): Promise<Summary>
}

export interface Bench extends Client {
  server: FakeServer
}

interface Connection {
  api: () => Api
  url: string
  token: string
  owner: AccountIdentity
}

/** Told of each request, before it is made and after its answer came; what it throws the request ends in. */
export type Meddle = (moment: 'before' | 'after') => void

interface ClientOptions {
  meddle?: Meddle
  adopt?: boolean
  root?: string
  device?: string
}

/** A synchronised folder of an account, wherever that is. */
async function makeClient({ api, url, token, owner }: Connection, options: ClientOptions = {}): Promise<Client> {
  const { adopt = false, root = temporaryFolder(), device = 'Laptop' } = options
  const stateFolder = temporaryFolder()
  await initRoot({ path: root, stateFolder, owner, url, username: 'ada', device_name: device, adopt, secrets: [] })
  const events: SyncEvent[] = []
  const time = { now: NOW }
  const slept: number[] = []
  return {
    root,
    stateFolder,
    owner,
    events,
    time,
    slept,
    sync: ({
      path = root,
      dryRun = false,
      undo = false,
      rows = false,
      maxDelete,
      retry,
      signal = new AbortController().signal,
      token: other = token,
    } = {}) =>
      runSync({
        path,
        stateFolder,
        api: api(),
        account: { url, username: 'ada', token: other, profile: 'default' },
        dryRun,
        undo,
        rows,
        maxDelete,
        retry,
        clock: { now: () => time.now, monotonic: () => slept.reduce((sum, ms) => sum + ms, 0) },
        sleep: (ms) => {
          slept.push(ms)
          time.now += ms
          return Promise.resolve()
        },
        signal,
        emit: (event) => void events.push(event),
      }),
  }
}

/** A synchronised folder and a server in memory. */
export async function makeBench({
  server = new FakeServer(),
  ...options
}: ClientOptions & { server?: FakeServer } = {}): Promise<Bench> {
  const owner = { server_id: server.serverId, user_id: server.userId }
  const connection = { api: () => server.api(), url: 'http://127.0.0.1:1', token: 'a'.repeat(64), owner }
  return { ...(await makeClient(connection, options)), server }
}

/** A synchronised folder of an account on a real server. */
export async function clientOf(account: Account, url: string, options: ClientOptions = {}): Promise<Client> {
  const api = makeApi({ url, token: account.token, transport: makeNodeTransport() })
  onTestFinished(() => api.close())
  const { server_id } = await api.call(contract.syncStatus.actions.capabilities, {})
  const { meddle } = options
  const meddling =
    <A extends unknown[], R>(request: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      meddle?.('before')
      const answer = await request(...args)
      meddle?.('after')
      return answer
    }
  const asked = {
    ...api,
    call: meddling(api.call) as Api['call'],
    send: meddling(api.send) as Api['send'],
    receive: meddling(api.receive) as Api['receive'],
  }
  return makeClient(
    { api: () => (meddle ? asked : api), url, token: account.token, owner: { server_id, user_id: account.id } },
    options,
  )
}
