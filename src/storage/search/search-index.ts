/** A term of the query; with `prefix` all terms that begin with it. */
export interface Pattern {
  text: string
  prefix: boolean
}

export interface IndexedDocument {
  /** Table and row as one number. */
  key: number
  /** Who finds it: the ID of an account, or the negative ID of a room. */
  scope: number
  /** Letters and digits, after an optional mark. */
  terms: readonly string[]
}

export interface IndexUpdate {
  documents: readonly IndexedDocument[]
  /** Keys of documents that do not exist any more. */
  gone: readonly number[]
  /** The progress of building, to be stored with them. */
  state?: string | undefined
}

export interface IndexQuery {
  /** A document matches if it has at least one term of each group. */
  all: readonly (readonly Pattern[])[]
  /** Leaves out documents that have at least one term of each of these groups. */
  not?: readonly (readonly Pattern[])[] | undefined
  scopes: readonly number[]
  /** Only documents indexed before this one. */
  before?: number | undefined
  limit: number
}

export interface Hit {
  id: number
  key: number
}

/** The index cannot be read: clear it and build it again. */
export class IndexDamaged extends Error {
  override name = 'IndexDamaged'
}

/** The full-text index. It holds nothing but what can be built again from the rows. Every method may throw `IndexDamaged`. */
export interface SearchIndex {
  /** Whether this process may update the index; of several servers one does. Creates the index if necessary. */
  acquire(): Promise<boolean>
  /** What was last stored with an update; undefined for a new index. */
  state(): Promise<string | undefined>
  /** Removes all documents. */
  clear(state: string): Promise<void>
  /** Adds, replaces and removes documents. False, and nothing is changed, if another server updates the index. */
  update(update: IndexUpdate): Promise<boolean>
  /** Matching documents, the last indexed first. */
  find(query: IndexQuery): Promise<Hit[]>
  /** Scopes that have documents, for removing those of accounts that are gone. */
  scopes(): Promise<number[]>
  /** Removes documents of a scope; returns whether there may be more. */
  removeSome(scope: number): Promise<boolean>
  close(): Promise<void>
}
