import { rm } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { contract } from '../../../src/contract/contract.ts'
import { makeApp } from '../../../src/http/app.ts'
import { openLocal } from '../../../src/wiring/local-domain.ts'
import { makeAccount } from '../../support/account.ts'
import { temporaryFolder } from '../../support/server.ts'
import { openEngine } from '../../../src/host/sqlite-engine.ts'
import { openSqlite } from '../../../src/storage/engine/sqlite.ts'

const { manifest, download } = contract.syncFiles.actions

/** A file as the server has it, by its number. */
export type ServerFiles = ReadonlyMap<number, { path: string; parent: number; name: string; sha256: string }>

const FILES = `
  with recursive tree (id, parent, name, path, sha256) as (
    select id, 0, '', '', null from nodes where user_id = ? and parent_id is null and room_id is null
    union all
    select nodes.id, tree.id, nodes.name, tree.path || '/' || nodes.name, nodes.sha256
    from nodes join tree on nodes.parent_id = tree.id where nodes.trash_id is null
  )
  select id, path, parent, name, sha256 from tree where sha256 is not null`

/** An account with two devices, and what it holds as the server says it. */
export interface SimulatedAccount {
  tokens: Record<'A' | 'B', string>
  owner: { server_id: string; user_id: number }
  /** Contents of files, null for folders. */
  tree(): Promise<Record<string, string | null>>
  /** What it holds at this moment. */
  files(): ServerFiles
}

/** A server in this process, without a network. */
export interface World {
  app: FastifyInstance
  /** Who says what time it is there. */
  time: { now: () => number }
  account(): Promise<SimulatedAccount>
  close(): Promise<void>
}

export async function openWorld(): Promise<World> {
  const dataDir = await temporaryFolder()
  const time = { now: () => Date.UTC(2026, 10, 21, 12) }
  const clock = { now: () => time.now() }
  const local = await openLocal({ dataDir, env: { SVC_LIMITS: 'off' }, clock })
  const database = openSqlite(local.directory.database)
  const direct = openEngine(local.directory.database, 1_000)
  const filesOf = direct.prepare(FILES)
  const nobodyAsks = () => Promise.reject(new Error('Nobody asks.'))
  const app = await makeApp({
    domain: local.domain,
    clock,
    logger: false,
    trustedProxies: [],
    metrics: 'none',
    desktopFolder: '',
    machine: {
      measurements: [],
      readiness: nobodyAsks,
      examine: nobodyAsks,
      disk: nobodyAsks,
      storedBackups: nobodyAsks,
      backupStream: nobodyAsks,
      startBackupJob: nobodyAsks,
    },
  })
  await app.ready()
  const place = { url: '', database, clock: { ...clock, pass: () => undefined } }
  // A server without an administrator serves nobody.
  await makeAccount(place, { role: 'admin' })

  async function ask(token: string, path: string, query: Record<string, string>) {
    const answer = await app.inject({ url: path, query, headers: { authorization: `Bearer ${token}` } })
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${answer.body}`)
    return answer
  }

  return {
    app,
    time,
    async account() {
      const account = await makeAccount(place)
      const { token } = account
      const listing = async () =>
        (await ask(token, manifest.path, { action: manifest.name })).json<{
          server_id: string
          files: { path: string }[]
          directories: string[]
        }>()
      const { server_id } = await listing()
      return {
        tokens: { A: token, B: (await account.another()).token },
        owner: { server_id, user_id: account.id },
        files() {
          const rows = filesOf.all(account.id) as {
            id: number
            path: string
            parent: number
            name: string
            sha256: string
          }[]
          return new Map(rows.map(({ id, ...file }) => [id, file]))
        },
        async tree() {
          const { files, directories } = await listing()
          const tree: Record<string, string | null> = {}
          for (const path of directories) tree[path] = null
          for (const { path } of files) {
            tree[path] = (await ask(token, download.path, { action: download.name, path })).rawPayload.toString()
          }
          return Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)))
        },
      }
    },
    async close() {
      await app.close()
      await local.close()
      await database.close()
      direct.close()
      await rm(dataDir, { recursive: true })
    },
  }
}
