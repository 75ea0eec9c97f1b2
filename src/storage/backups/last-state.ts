import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '../../base/random.ts'
import type { Manifest } from './manifest.ts'

// What the newest backup in a folder of backups shows, noted on the machine that made it, so that the next one knows when
// nothing has changed. The note may be lost or old at any time: the states it names are told apart for good.

export interface LastState {
  /** `Database.state`, which holds nothing that the backup does not show but what svc noted of backups themselves. */
  state: string
  /** Version of svc that made the backup. */
  version: string
  /** Id of the repository. */
  repository: string
  /** Id of the backup. */
  backup: string
  /** `fingerprintOf` its manifest. */
  fingerprint: string
}

const FILE = 'last-backup.json'
const KEYS = ['state', 'version', 'repository', 'backup', 'fingerprint'] as const

/** Names what a manifest says of the database and the blobs; the folder may hold another one by now. */
export function fingerprintOf(manifest: Manifest): string {
  const { id, server_id, epoch, migrations, database, blobs, missing, rows, totals } = manifest
  const lists = blobs.lists.map(({ sha256, size }) => [sha256, size])
  const counted = Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1))
  const { accounts, files, file_bytes } = totals
  const inDatabase = [database.size, database.pieces, migrations, counted, accounts, files, file_bytes]
  const facts = [id, server_id, epoch, inDatabase, blobs.count, blobs.bytes, lists, missing]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** The note in a folder; undefined when there is none that can be read. */
export async function lastState(folder: string): Promise<LastState | undefined> {
  try {
    const note = JSON.parse(await readFile(join(folder, FILE), 'utf8')) as Partial<LastState> | null
    return KEYS.every((key) => typeof note?.[key] === 'string') ? (note as LastState) : undefined
  } catch {
    return undefined
  }
}

/** Replaces the note. Not flushed: a note that is lost costs one whole backup. */
export async function noteState(folder: string, note: LastState): Promise<void> {
  // Named as the copy of a database nobody holds: what a killed run leaves, the next `makeScratch` removes.
  const temporary = join(folder, `backup-${randomHex(8)}.json`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(temporary, `${JSON.stringify(note)}\n`, { mode: 0o600 })
    await rename(temporary, join(folder, FILE))
  } catch {
    // A full disk must not fail a backup that is made.
    await rm(temporary, { force: true }).catch(() => undefined)
  }
}
