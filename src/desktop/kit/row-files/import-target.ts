import type { Candidate } from '../../../client/rows/row-files.ts'

/** Where the new rows of a file go. */
export interface ImportTarget {
  /** Columns that say so. */
  fieldsOf: (values: Candidate['values']) => Candidate['values']
  /** Follows the undo of the import, and an import that adds nothing. */
  undo: () => Promise<void>
}

/** Asks where the new rows of a file of another program go; undefined if the user cancels. */
export type AskTarget = (text: string, candidates: readonly Candidate[]) => Promise<ImportTarget | undefined>
