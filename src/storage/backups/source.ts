import type { Manifest, Piece } from './backup-manifest.ts'

export interface StreamVerification {
  /** What is damaged, in sentences. */
  problems: string[]
  /** How many moments it has. */
  records: number
  /** How many contents could not be read for it and are in no backup. */
  missing: number
}

/**
 * Backups to read: a repository or one archive. Everything is verified against its hash or authentication tag, and
 * throws `DamagedBackup` if that fails.
 */
export interface BackupSource {
  /** The folder or file, for messages. */
  readonly place: string
  readonly encrypted: boolean
  /** Damage of the place itself that does not prevent reading. */
  readonly problem?: string | undefined
  /** Every backup, oldest first. */
  ids(): Promise<string[]>
  manifest(id: string): Promise<Manifest>
  /** The contents of a backup that were in the blob store, by hash. */
  blobs(manifest: Manifest): Promise<Piece[]>
  /** The bytes of an object; verified if the stream ends without an error. */
  read(piece: Piece): AsyncIterable<Uint8Array>
  /** Reads the whole stream of changes beside the backups. */
  verifyStream?(): Promise<StreamVerification>
  close(): Promise<void>
}

/** A backup before it is stored, without the contents of the blob store. */
export interface Draft {
  /** Complete except for `added`. */
  manifest: Omit<Manifest, 'added'>
  blobs: readonly Piece[]
  /** Lists and files of the installation, by hash. */
  small: ReadonlyMap<string, Uint8Array>
  /** The copy of the database; undefined if an earlier backup contains the same state. */
  database: string | undefined
}

/** The destination of a new backup. */
export interface BackupSink {
  readonly place: string
  readonly encrypted: boolean
  /** Repository ID; undefined for an archive, which is one backup. */
  readonly repository: string | undefined
  /** Objects of earlier backups that were damaged or missing, and were stored again. */
  repaired(): number
  /** An earlier backup whose objects all exist in full length, with its contents in the blob store. */
  standing(id: string): Promise<{ manifest: Manifest; blobs: Piece[] } | undefined>
  /** Returns the contents that cannot be stored, because the blob store lost or damaged them. */
  takeBlobs(blobs: readonly Piece[], stored: (bytes: number) => void): Promise<Set<string>>
  /** Stores the rest, and the manifest last: the backup is then complete and durable. */
  finish(draft: Draft, stored: (bytes: number) => void): Promise<Manifest>
  /** Releases the destination, finished or not. The next backup reuses the objects of an unfinished one. */
  close(): Promise<void>
}
