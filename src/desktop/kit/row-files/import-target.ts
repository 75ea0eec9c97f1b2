import type { ExchangeName } from '../../../client/rows/file-formats.ts'
import type { Candidate } from '../../../client/rows/row-files.ts'

/** Where the rows of a file go. */
export interface ImportTarget {
  place: (candidates: readonly Candidate[]) => Candidate[]
  /** Follows the undo of the import. */
  undo: () => Promise<void>
}

/** Asks where the rows of a file go; undefined if the user cancels. */
export type AskTarget = (text: string, format: ExchangeName | 'rows') => Promise<ImportTarget | undefined>
