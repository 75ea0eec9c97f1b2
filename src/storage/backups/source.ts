import type { Manifest, Piece } from './manifest.ts'

/**
 * Backups to read from: the folder of a repository, or one archive. Whatever comes from here was checked against its hash
 * or its seal; everything throws `DamagedBackup` where that fails.
 */
export interface BackupSource {
  /** The folder or file, for people. */
  readonly place: string
  readonly encrypted: boolean
  /** Every backup, oldest first. */
  ids(): Promise<string[]>
  manifest(id: string): Promise<Manifest>
  /** The contents in the blob store at the time of a backup, by hash. */
  blobs(manifest: Manifest): Promise<Piece[]>
  /** The bytes of an object; when it ends without an error, every one of them was right. */
  read(piece: Piece): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** What a backup is made of before it is stored: everything but the contents of the blob store. */
export interface Draft {
  /** Complete but for `added`. */
  manifest: Omit<Manifest, 'added'>
  blobs: readonly Piece[]
  /** Lists and files of the installation, by hash. */
  small: ReadonlyMap<string, Uint8Array>
  /** The copy of the database; undefined where an earlier backup stands that shows the same state of it. */
  database: string | undefined
}

/** Where a new backup goes. */
export interface BackupSink {
  readonly place: string
  readonly encrypted: boolean
  /** The id of the repository; undefined for an archive, which is one backup. */
  readonly repository: string | undefined
  /** An earlier backup of which every object is there in full length, with its contents in the blob store; or undefined. */
  standing(id: string): Promise<{ manifest: Manifest; blobs: Piece[] } | undefined>
  /**
   * Sees to it that these contents are stored or can be. Returns those that can not, because the blob store has lost or damaged them.
   * `stored` is told the bytes that are done.
   */
  takeBlobs(blobs: readonly Piece[], stored: (bytes: number) => void): Promise<Set<string>>
  /** Stores the rest, and last the manifest: from then on, durably, the backup is there. */
  finish(draft: Draft, stored: (bytes: number) => void): Promise<Manifest>
  /** Lets go of it, whether it was finished or not; what an unfinished backup has stored serves the next one. */
  close(): Promise<void>
}
