import type { Reader } from './database.ts'

// Continuous copies of a database in a file of its own. Engines with a server have their own tools for that.

/** What was committed since an earlier moment. */
export interface PageChanges {
  /** Everything committed before this time is contained, epoch ms. */
  at: number
  /** The newest bytes by page number, from 1. */
  pages: Map<number, Uint8Array>
  /** Length of the database in pages. */
  pageCount: number
}

export interface PageStream {
  readonly pageSize: number
  /**
   * What was committed since the last call; undefined if nothing was. `too-much` if it does not fit into memory: only a
   * new base helps. The caller asks about twice a second, because the log grows until then.
   */
  next(): PageChanges | 'too-much' | undefined
  /**
   * What the file may lack at this moment. A base is a copy of the file that begins after this call; with these changes
   * and all later ones it is the database.
   */
  begin(): PageChanges | 'too-much'
  /** Bytes of the file; fewer at its end. */
  read(start: number, length: number): Promise<Buffer>
  size(): number
  /**
   * Contents of the blob store that have a row: all, or those that are new since the stream was opened or the last call
   * for `new`. A few that are known may be among the new ones.
   */
  contents(which: 'all' | 'new'): { sha256: string; size: number }[]
  /** Committed state, at least as new as what was last returned. */
  readonly at: Reader
  close(): void
}
