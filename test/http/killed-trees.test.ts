import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filesystem } from '../../src/contract/filesystem.ts'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { trash } from '../../src/contract/trash.ts'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import type { TrashState } from '../../src/storage/engine/tables.ts'
import { openLocal } from '../../src/wiring/local-domain.ts'
import { clientOf, type Client } from '../support/account.ts'
import { accountInFolder } from '../support/account-in-folder.ts'
import { startChild, type Child } from '../support/child.ts'
import { temporaryFolder } from '../support/server.ts'

const fs = filesystem.actions
const FOLDERS = 3_000

let dataDir: string
let child: Child | undefined
beforeEach(async () => {
  dataDir = await temporaryFolder()
})
afterEach(async () => {
  await child?.kill()
  await rm(dataDir, { recursive: true, force: true })
})

const later = () => new Promise((resolve) => setTimeout(resolve, 1))

/** What is unfinished, read beside the server. */
async function unfinished(): Promise<TrashState[]> {
  const database = openSqlite(join(dataDir, 'svc.db'))
  try {
    const rows = await database.read.q.selectFrom('trash').select('state').where('state', '<>', 'kept').execute()
    return rows.map(({ state }) => state)
  } finally {
    await database.close()
  }
}

async function waitFor(state: TrashState, isOver: () => boolean): Promise<boolean> {
  while (!isOver()) {
    if ((await unfinished()).includes(state)) return true
    await later()
  }
  return false
}

/** Kills the server while it works on a tree in this state; whether the work was met before it was over. */
async function killIn(state: TrashState, operation: () => Promise<unknown>): Promise<boolean> {
  let isOver = false
  const asked = operation().then(
    () => (isOver = true),
    () => (isOver = true),
  )
  const met = await waitFor(state, () => isOver)
  await child!.kill()
  await asked
  return met
}

/** What is wrong with what is stored, with the server stopped. */
async function flaws(): Promise<string[]> {
  const { domain, close } = await openLocal({ dataDir, env: {} })
  await domain.files.resume()
  const found = (await domain.instance.storage.check()).problems.map(({ id }) => id)
  await close()
  return found
}

async function start(token: string): Promise<Client> {
  child = await startChild('serve', dataDir)
  return clientOf(child.ready, token)
}

/** Folders below `/d` and `/e`, as their owner sees them. */
async function seen(client: Client): Promise<{ d: number; e: number }> {
  const { directories } = await client.manifest()
  const below = (top: string) => directories.filter((path) => path === top || path.startsWith(`${top}/`)).length
  return { d: below('/d'), e: below('/e') }
}

test('a server that is killed in the middle of a large tree shows all of it or nothing, and finishes what was decided', async () => {
  child = await startChild('serve', dataDir)
  const { token } = await accountInFolder(dataDir, child.ready)
  let client = clientOf(child.ready, token)
  const paths = Array.from({ length: FOLDERS }, (_, index) => `/d/${index % 40}/${index}`)
  for (let at = 0; at < FOLDERS; at += 500) {
    const operations = paths.slice(at, at + 500).map((path) => ({ op: 'mkdir' as const, path }))
    await client.ask(syncFiles.actions.files_batch, { operations })
  }
  const whole = (await seen(client)).d

  // A copy is out of sight until it is whole.
  expect(await killIn('staging', () => client.ask(fs.copy, { from: '/d', to: '/e' }))).toBe(true)
  expect(await flaws()).toEqual([])
  client = await start(token)
  expect(await seen(client)).toEqual({ d: whole, e: 0 })

  // A deletion is decided by its first transaction.
  expect(await killIn('marking', () => client.ask(fs.trash, { path: '/d' }))).toBe(true)
  expect(await flaws()).toEqual([])
  client = await start(token)
  expect(await seen(client)).toEqual({ d: 0, e: 0 })

  const { items } = await client.ask(trash.actions.list, {})
  const { id } = items.find(({ path }) => path === '/d')!
  expect(await killIn('reviving', () => client.ask(trash.actions.restore, { id }))).toBe(true)
  expect(await flaws()).toEqual([])
  client = await start(token)
  expect(await seen(client)).toEqual({ d: whole, e: 0 })

  await client.ask(fs.trash, { path: '/d' })
  expect(await killIn('dropping', () => client.ask(trash.actions.empty, {}))).toBe(true)
  expect(await flaws()).toEqual([])
  client = await start(token)
  expect(await seen(client)).toEqual({ d: 0, e: 0 })
  expect((await client.ask(trash.actions.list, {})).items).toEqual([])
  expect(await child.end()).toBe(0)
  child = undefined
}, 240_000)
