import { iso, type Clock } from '../../../base/clock.ts'
import { fault, isFault } from '../../../contract/errors.ts'
import { itemOf, itemsOf, markUndone, setOf, setsOf, type StoredItem } from '../../../storage/assistant/ledger.ts'
import type { Database, Writer } from '../../../storage/engine/database.ts'
import { isComponentChange, undoableComponents, type Author } from '../../desktop/desktop.ts'
import { isFileChange, type Files } from '../../files/files.ts'
import { undoableRows } from '../../sync/sync.ts'
import { makeChangeSets, type OpenSet } from './change-set.ts'
import type { Change, ChangeSet } from './change.ts'
import type { Account } from '../tools/tool.ts'

/** What became of one change that was to be taken back. */
export interface Undone {
  kind: Change['kind']
  target: string
  status: 'undone' | 'refused' | 'already'
  /** Why it was refused, in a sentence. */
  reason?: string
}

interface Parts {
  database: Database
  clock: Clock
  files: Pick<Files, 'noted'>
}

const PAGE = { standard: 20, most: 100 }

/** The changes the assistant made, answer by answer, and the way back. */
export function makeLedger({ database, clock, files }: Parts) {
  const open = makeChangeSets({ database, clock })

  async function takeBack(tx: Writer, author: Author, change: Change, now: number): Promise<Change[]> {
    const { user } = author
    if (isFileChange(change)) return files.noted.takeBack(tx, user, change)
    if (isComponentChange(change)) return [await undoableComponents.takeBack(tx, author, change)]
    const undone = await undoableRows.takeBack(tx, user, change, now)
    return undone ? [undone] : []
  }

  /** Takes one change back, with all it says about itself, or nothing of it. */
  async function undoItem(author: Author, item: Omit<StoredItem, 'data'>, into: OpenSet) {
    const about = { kind: item.kind as Change['kind'], target: item.target }
    if (item.undone_by !== null) return { ...about, status: 'already' } as const
    let isDone = false
    try {
      await into.change(
        async (tx, now) => {
          const stored = await itemOf(tx, item.id)
          // Somebody else took it back since it was read.
          if (!stored || stored.undone_by !== null) return []
          isDone = true
          return takeBack(tx, author, JSON.parse(stored.data) as Change, now)
        },
        (tx, set) => (isDone ? markUndone(tx, item.id, set) : Promise.resolve()),
      )
    } catch (error) {
      // What one change cannot be taken back for is its own result and keeps no other from being taken back.
      if (!isFault(error) || error.status >= 500) throw error
      return { ...about, status: 'refused', reason: error.message } as const
    }
    return { ...about, status: isDone ? 'undone' : 'already' } as const
  }

  return {
    /** Begins to note what one answer changes. */
    open: ({ account, conversation }: { account: Pick<Account, 'id'>; conversation: number | undefined }): ChangeSet =>
      open(account.id, { conversation }),

    /** Change sets of an account, newest first, with their changes in order. */
    async list(user: number, { before, limit = PAGE.standard }: { before?: number; limit?: number }) {
      const most = Math.min(limit, PAGE.most)
      return database.snapshot(async (at) => {
        const found = await setsOf(at, user, { before, limit: most + 1 })
        const sets = found.slice(0, most)
        const items = await itemsOf(
          at,
          sets.map(({ id }) => id),
        )
        return {
          changes: sets.map(({ id, conversation_id, undoes, created_at }) => ({
            change_set_id: id,
            conversation_id,
            undoes,
            created_at: iso(created_at),
            items: items
              .filter((item) => item.change_set_id === id)
              .map(({ kind, target, undone_by }) => ({
                kind: kind as Change['kind'],
                target,
                undone: undone_by !== null,
              })),
          })),
          has_more: found.length > most,
        }
      })
    },

    /**
     * Takes back what a change set did, its last change first, each whole or not at all: what changed since is refused and
     * said so. Doing it is a change set itself. Again, it takes back only what was refused before. Fault `not_found`.
     */
    async undo(author: Author, id: number): Promise<{ change_set_id: number | null; items: Undone[] }> {
      const { user } = author
      const set = await setOf(database.read, user, id)
      if (!set) throw fault('not_found')
      const into = open(user, { conversation: set.conversation_id ?? undefined, undoes: id })
      const items: Undone[] = []
      for (const item of (await itemsOf(database.read, [id])).reverse()) items.push(await undoItem(author, item, into))
      return { change_set_id: into.id() ?? null, items }
    },
  }
}

export type Ledger = ReturnType<typeof makeLedger>
