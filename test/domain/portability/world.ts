import { createHash } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { readTar } from '../../../src/base/tar-reader.ts'
import { openLocal, type Local } from '../../../src/wiring/local-domain.ts'
import { folderOfTest } from '../../support/server.ts'
import { tarOf, type Packed } from '../../support/tar.ts'

export const HASH = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** A data directory of its own: another server. */
export async function anotherServer(): Promise<Local & { dataDir: string }> {
  const dataDir = await folderOfTest()
  const local = await openLocal({ dataDir, env: {} })
  onTestFinished(() => local.close())
  return { ...local, dataDir }
}

/** The whole archive of an account. */
export async function exported({ domain }: Local, username: string): Promise<Buffer> {
  const { archive } = await domain.portability.exportAccount(username)
  const pieces: Uint8Array[] = []
  for await (const piece of archive) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** An archive as something that can be read again and again, in pieces of a size. */
export const readable = (archive: Uint8Array, piece = 100_000) =>
  async function* () {
    for (let at = 0; at < archive.length; at += piece) yield await Promise.resolve(archive.subarray(at, at + piece))
  }

export async function imported({ domain }: Local, archive: Uint8Array, wishes = {}): Promise<string[]> {
  const plan = await domain.portability.planImport(readable(archive), wishes)
  return (await plan.execute({ hash: HASH })).leftOut
}

export interface Unpacked {
  type: string
  mtime: number
  content: Buffer
}

/** The entries of an archive by name. */
export async function contentsOf(archive: Uint8Array): Promise<Map<string, Unpacked>> {
  const entries = new Map<string, Unpacked>()
  for await (const { name, type, mtime, body } of readTar(readable(archive)())) {
    const pieces: Uint8Array[] = []
    for await (const piece of body) pieces.push(piece)
    entries.set(name, { type, mtime, content: Buffer.concat(pieces) })
  }
  return entries
}

export const ACCOUNT = {
  format: 'svc-account',
  version: 1,
  svc_version: '0.1.0',
  server_id: 'a'.repeat(32),
  exported_at: '2026-11-21T12:00:00.000Z',
  username: 'ada',
  display_name: 'Ada Lovelace',
  avatar_color: '#336699',
  role: 'admin',
  quota_bytes: -1,
  created_at: '2026-11-01T12:00:00.000Z',
}

const sha256Of = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** An archive put together by hand: the account, these entries, and a manifest that fits them unless it is changed. */
export function archiveOf(
  entries: Packed[],
  {
    account = ACCOUNT as object | null,
    change = (manifest: { entries: Record<string, unknown>[] }): unknown => manifest,
  } = {},
): Buffer {
  const all: Packed[] = [
    ...(account === null ? [] : [{ name: 'account.json', content: JSON.stringify(account) }]),
    ...entries,
  ]
  const listed = all
    .filter(({ type = '0' }) => type === '0')
    .map(({ name, content = '' }) => ({ path: name, size: Buffer.byteLength(content), sha256: sha256Of(content) }))
  const manifest = change({ format: 'svc-account', version: 1, entries: listed } as never)
  return tarOf(
    ...all,
    ...(manifest === undefined ? [] : [{ name: 'manifest.json', content: JSON.stringify(manifest) }]),
  )
}
