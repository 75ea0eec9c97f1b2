import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { insertAccount } from '../../../src/storage/accounts/accounts.ts'
import type { Process } from './process.ts'

/** A path of an account, and what it may hold: what was acknowledged last, or anything begun since. */
interface FileModel {
  acknowledged: string | null
  begun: Set<string | null>
  isBusy: boolean
}

/** One account: what it asked for, and what its device was shown. */
export interface AccountModel {
  id: number
  /** Titles of notes by the `op_id` that pushes them, and whether that was acknowledged. */
  notes: Map<string, { title: string; isAcknowledged: boolean }>
  files: Map<string, FileModel>
  /** A device that follows the feed: the rows it holds, by table and id, and the furthest head it was told. */
  device: { cursor: number; head: number; rows: Map<string, Record<string, unknown>>; isBusy: boolean }
}

export const PATHS = ['/a', '/b', '/c/a', '/c/b']

export async function addAccount({ database }: Process, username: string): Promise<AccountModel> {
  const shown = { display_name: username, avatar_color: '#336699' }
  const account = { username, ...shown, role: 'user' as const, password_hash: '-', quota_bytes: null }
  const id = (await database.write('instance', (tx) => insertAccount(tx, account, 1_000)))!
  const files = new Map(
    PATHS.map((path) => [path, { acknowledged: null, begun: new Set<string | null>(), isBusy: false }]),
  )
  return { id, notes: new Map(), files, device: { cursor: 0, head: 0, rows: new Map(), isBusy: false } }
}

const nothing = new AbortController().signal

/** Takes one page of the feed, waiting for it at most `wait` seconds. */
export async function follow(
  { sync, life }: Process,
  { id, device }: AccountModel,
  { wait = 0, signal = nothing }: { wait?: number; signal?: AbortSignal } = {},
): Promise<number> {
  const page = await sync.changesSince(id, { cursor: device.cursor, limit: 3, wait }, () => signal)
  if (life.isOver) return 0
  for (const { table, operation, data } of page.changes) {
    const key = `${table} ${data.id}`
    if (operation === 'DELETE') device.rows.delete(key)
    else device.rows.set(key, data)
  }
  device.cursor = page.cursor
  return page.count
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function bytesOf({ contents }: Process, sha256: string): Promise<Buffer> {
  const content = await contents.read(sha256)
  if (Buffer.isBuffer(content)) return content
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/** What the account's tree holds: hashes by path. */
async function treeOf(process: Process, { id }: AccountModel): Promise<Map<string, string>> {
  const pieces = await process.files.manifest(id, String(Math.random()), {})
  const { files } = JSON.parse(Buffer.concat([...pieces]).toString()) as { files: { path: string; sha256: string }[] }
  return new Map(files.map(({ path, sha256 }) => [path, sha256]))
}

/** Checks a server at rest against everything it was asked for and has shown. */
export async function assertInvariants(process: Process, account: AccountModel): Promise<void> {
  const { notes, files, device, id } = account
  const titles: string[] = []
  for await (const row of process.sync.rows(id, 'svc_notes')) titles.push(String(row['title']))
  titles.sort()
  expect(new Set(titles).size, 'no push was applied twice').toBe(titles.length)
  const known = new Map([...notes.values()].map(({ title, isAcknowledged }) => [title, isAcknowledged]))
  for (const title of titles) expect(known.has(title), 'a row that nobody pushed').toBe(true)
  const lost = [...known].filter(([title, isAcknowledged]) => isAcknowledged && !titles.includes(title))
  expect(lost, 'acknowledged pushes that are lost').toEqual([])

  const tree = await treeOf(process, account)
  for (const [path, file] of files) {
    const found = tree.get(path) ?? null
    const allowed = [file.acknowledged, ...file.begun]
    expect(allowed, `${path} holds what was never put there, or not last`).toContain(found)
    // What is there now stays there until somebody asks for something else.
    file.acknowledged = found
    file.begun.clear()
    if (found !== null) expect(hashOf(await bytesOf(process, found)), `the content of ${path}`).toBe(found)
  }

  expect(await process.sync.head(id), 'a position of the feed was shown and is lost').toBeGreaterThanOrEqual(
    Math.max(device.cursor, device.head),
  )
  while ((await follow(process, account)) > 0);
  const held = [...device.rows].flatMap(([key, row]) => (key.startsWith('svc_notes ') ? [String(row['title'])] : []))
  expect(held.sort(), 'rows of a device that followed the feed').toEqual(titles)
  const heldFiles = [...device.rows].flatMap(([key, row]) =>
    key.startsWith('svc_files ') && row['type'] === 'file' ? [String(row['sha256'])] : [],
  )
  expect(heldFiles.sort(), 'files of a device that followed the feed').toEqual([...tree.values()].sort())
}
