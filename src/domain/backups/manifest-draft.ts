import { iso } from '../../base/clock.ts'
import type { Census } from '../../storage/backups/census.ts'
import {
  databasePieces,
  listsOf,
  newId,
  pieceOf,
  type Manifest,
  type Piece,
} from '../../storage/backups/backup-manifest.ts'
import type { Draft } from '../../storage/backups/source.ts'
import type { Identity } from '../instance/instance.ts'

// Manifests of new backups, before they are stored.

const total = (pieces: Iterable<Piece>) => {
  const distinct = new Map([...pieces].map(({ sha256, size }) => [sha256, size]))
  return { objects: distinct.size, bytes: [...distinct.values()].reduce((sum, size) => sum + size, 0) }
}

interface DraftOptions {
  identity: Identity
  version: string
}

export interface BackupContents {
  census: Census
  missing: ReadonlySet<string>
  database: Manifest['database']
  installation: { path: string; data: Uint8Array }[]
}

/** Small objects, kept in memory until they are stored. */
function smallObjects() {
  const small = new Map<string, Uint8Array>()
  const remember = (data: Uint8Array): Piece => {
    const piece = pieceOf(data)
    small.set(piece.sha256, data)
    return piece
  }
  return { small, remember }
}

/** The manifest of the gathered data at `now`, and the small objects it references. `file` is the copy of the database. */
export function draftManifest(options: DraftOptions, now: number, file: string, contents: BackupContents): Draft {
  const { census, missing, database, installation } = contents
  const blobs = census.blobs.filter(({ sha256 }) => !missing.has(sha256))
  const { small, remember } = smallObjects()
  const lists = [...listsOf(blobs)].map((list) => remember(Buffer.from(list)))
  const files = installation.map(({ path, data }) => ({ path, ...remember(data) }))
  const { rows, accounts, files: count, file_bytes, migrations } = census
  return {
    manifest: {
      format: 1,
      id: newId(now),
      created_at: iso(now),
      version: options.version,
      ...options.identity,
      migrations,
      database,
      files,
      blobs: { count: blobs.length, bytes: blobs.reduce((sum, { size }) => sum + size, 0), lists },
      missing: [...missing].sort(),
      rows,
      totals: {
        accounts,
        files: count,
        file_bytes,
        ...total([...lists, ...files, ...databasePieces(database), ...blobs]),
      },
    },
    blobs,
    small,
    database: file,
  }
}

/** The manifest of a database that equals an earlier backup; files outside of the database are those of `now`. */
export function draftUnchanged(
  earlier: { manifest: Manifest; blobs: Piece[] },
  now: number,
  installation: BackupContents['installation'],
): Draft {
  const { manifest, blobs } = earlier
  const { small, remember } = smallObjects()
  const files = installation.map(({ path, data }) => ({ path, ...remember(data) }))
  const objects = [...manifest.blobs.lists, ...files, ...databasePieces(manifest.database), ...blobs]
  return {
    manifest: {
      ...manifest,
      id: newId(now),
      created_at: iso(now),
      files,
      totals: { ...manifest.totals, ...total(objects) },
    },
    blobs,
    small,
    database: undefined,
  }
}
