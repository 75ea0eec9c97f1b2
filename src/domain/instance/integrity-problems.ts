/** Every problem that an integrity check can find; `repairable` if the repair loses no data. */
export const integrityProblems = {
  'database-damaged': { meaning: 'the database file itself is damaged', repairable: false },
  'table-missing': { meaning: 'a table of the database is missing', repairable: false },
  'store-foreign': { meaning: 'the place of the contents belongs to another installation', repairable: false },
  'reference-broken': { meaning: 'a row refers to one that is not there', repairable: false },
  'blob-missing': { meaning: 'the bytes of a content are missing', repairable: false },
  'blob-size': { meaning: 'a content has more or fewer bytes than recorded', repairable: false },
  'blob-damaged': { meaning: 'the bytes of a content are not those that were stored', repairable: false },
  'blob-unreadable': { meaning: 'the disk cannot read the bytes of a content', repairable: false },
  'content-unknown': { meaning: 'a file or version names a content that is not recorded', repairable: false },
  'content-size': { meaning: 'a file or version is recorded with another size than its content', repairable: false },
  'root-missing': { meaning: 'an account has no root folder', repairable: false },
  'root-is-file': { meaning: 'the root of a tree is a file', repairable: false },
  'parent-missing': { meaning: 'a file or folder is in a folder that does not exist', repairable: false },
  'parent-is-file': { meaning: 'a file or folder is in a file', repairable: false },
  'parent-elsewhere': { meaning: 'a file or folder is in a folder of another tree', repairable: false },
  'parent-in-trash': { meaning: 'a file or folder that was not deleted is in one that was', repairable: false },
  'folder-cycle': { meaning: 'folders lie in each other', repairable: false },
  'trash-entry-missing': { meaning: 'something deleted belongs to no entry of the trash', repairable: false },
  'trash-entry-stray': { meaning: 'an entry of the trash holds nothing', repairable: false },
  'counters-missing': { meaning: 'an account has no counters', repairable: false },
  'quota-drift': {
    meaning: 'what is counted for an account is not what its files and data add up to',
    repairable: true,
  },
  'feed-row-missing': { meaning: 'an account sees a row that its feed does not contain', repairable: true },
  'feed-row-stray': { meaning: 'a feed contains a row that the account does not see', repairable: true },
  'feed-beyond-head': { meaning: 'a feed has changes beyond its head', repairable: true },
  'feed-position-shared': { meaning: 'two changes of a feed claim one position', repairable: true },
} as const satisfies Record<string, { meaning: string; repairable: boolean }>

export type IntegrityProblemId = keyof typeof integrityProblems

export interface IntegrityProblem {
  /** Stable across versions, for scripts. */
  id: IntegrityProblemId
  /** The affected object: `node 17`, `content 5891b5…`, `account ada`. */
  object: string
  found: string
  repairable: boolean
  repaired: boolean
  /** Files that use an affected content. */
  used_by?: string[]
}

export const integrityProblem = (id: IntegrityProblemId, object: string, found: string): IntegrityProblem => ({
  id,
  object,
  found,
  repairable: integrityProblems[id].repairable,
  repaired: false,
})
