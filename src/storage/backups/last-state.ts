import { createHash } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import type { Manifest } from './backup-manifest.ts'

// The database state of the newest backup, recorded on the machine that made it, so that the next run notices that
// nothing changed. The record may be lost or outdated: state names are never reused.

export interface LastState {
  /** `Database.state`. It covers everything in the backup except svc's own records of backups. */
  state: string
  /** Version of svc that made the backup. */
  version: string
  repository: string
  backup: string
  /** `fingerprintOf` its manifest. */
  fingerprint: string
}

const FILE = 'last-backup.json'
const KEYS = ['state', 'version', 'repository', 'backup', 'fingerprint'] as const

/** Identifies the database and blobs of a manifest: the folder may hold a different one by now. */
export function fingerprintOf(manifest: Manifest): string {
  const { id, server_id, epoch, migrations, database, blobs, missing, rows, totals } = manifest
  const lists = blobs.lists.map(({ sha256, size }) => [sha256, size])
  const counted = Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1))
  const { accounts, files, file_bytes } = totals
  const inDatabase = [database.size, database.pieces, migrations, counted, accounts, files, file_bytes]
  const facts = [id, server_id, epoch, inDatabase, blobs.count, blobs.bytes, lists, missing]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** The record in a folder; undefined if it is missing or unreadable. */
export async function lastState(folder: string): Promise<LastState | undefined> {
  try {
    const note = JSON.parse(await readRegularFile(join(folder, FILE))) as Partial<LastState> | null
    return KEYS.every((key) => typeof note?.[key] === 'string') ? (note as LastState) : undefined
  } catch {
    return undefined
  }
}

/** Replaces the record. Not flushed: losing it costs one complete backup. */
export async function noteState(folder: string, note: LastState): Promise<void> {
  // Named like the scratch database of a dead holder: if this run is killed, the next `makeScratch` removes it.
  const temporary = join(folder, `backup-${randomHex(8)}.json`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(temporary, `${JSON.stringify(note)}\n`, { mode: 0o600 })
    await rename(temporary, join(folder, FILE))
  } catch {
    // A full disk must not fail a finished backup.
    await rm(temporary, { force: true }).catch(() => undefined)
  }
}
