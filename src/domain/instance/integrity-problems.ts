/** Everything a check of what is stored can find; `mendable` where putting it right can lose nothing. */
export const integrityProblems = {
  'database-damaged': { meaning: 'the database file itself is damaged', mendable: false },
  'table-missing': { meaning: 'a table of the database is gone', mendable: false },
  'store-foreign': { meaning: 'the place of the contents belongs to another installation', mendable: false },
  'reference-broken': { meaning: 'a row refers to one that is not there', mendable: false },
  'blob-missing': { meaning: 'the bytes of a content are gone', mendable: false },
  'blob-size': { meaning: 'a content has more or fewer bytes than recorded', mendable: false },
  'blob-damaged': { meaning: 'the bytes of a content are not those that were stored', mendable: false },
  'blob-unreadable': { meaning: 'the disk does not give the bytes of a content', mendable: false },
  'content-unknown': { meaning: 'a file or version names a content that is not recorded', mendable: false },
  'content-size': { meaning: 'a file or version is recorded with another size than its content', mendable: false },
  'root-missing': { meaning: 'an account has no root folder', mendable: false },
  'root-is-file': { meaning: 'the root of a tree is a file', mendable: false },
  'parent-missing': { meaning: 'a file or folder lies in a folder that is not there', mendable: false },
  'parent-is-file': { meaning: 'a file or folder lies in a file', mendable: false },
  'parent-elsewhere': { meaning: 'a file or folder lies in a folder of another tree', mendable: false },
  'parent-in-trash': { meaning: 'a file or folder that was not deleted lies in one that was', mendable: false },
  'folder-cycle': { meaning: 'folders lie in each other', mendable: false },
  'trash-entry-missing': { meaning: 'something deleted belongs to no entry of the trash', mendable: false },
  'trash-entry-stray': { meaning: 'an entry of the trash holds nothing', mendable: false },
  'counters-missing': { meaning: 'an account has no counters', mendable: false },
  'quota-drift': { meaning: 'what is counted for an account is not what its files and data add up to', mendable: true },
  'feed-row-missing': { meaning: 'an account sees a row that its feed does not tell of', mendable: true },
  'feed-row-stray': { meaning: 'a feed tells of a row that the account does not see', mendable: true },
  'feed-beyond-head': { meaning: 'a feed has changes beyond its head', mendable: true },
  'feed-position-shared': { meaning: 'two changes of a feed claim one position', mendable: true },
} as const satisfies Record<string, { meaning: string; mendable: boolean }>

export type IntegrityProblemId = keyof typeof integrityProblems

/** One thing that is not as it should be. */
export interface IntegrityProblem {
  /** Stays the same over versions: for scripts. */
  id: IntegrityProblemId
  /** What it is about: `node 17`, `content 5891b5…`, `account ada`. */
  object: string
  found: string
  repairable: boolean
  repaired: boolean
  /** Files that have the content, for what is wrong with one. */
  used_by?: string[]
}

export const integrityProblem = (id: IntegrityProblemId, object: string, found: string): IntegrityProblem => ({
  id,
  object,
  found,
  repairable: integrityProblems[id].mendable,
  repaired: false,
})
