import { iso, type Clock } from '../../../base/clock.ts'
import { fault, isFault } from '../../../contract/errors.ts'
import { itemOf, itemsOf, markUndone, setOf, setsOf, type StoredItem } from '../../../storage/assistant/ledger.ts'
import type { Database, Writer } from '../../../storage/engine/database.ts'
import { isComponentChange, undoableComponents, type ComponentEditor } from '../../desktop/desktop.ts'
import { isFileChange, type Files } from '../../files/files.ts'
import { undoableRows } from '../../sync/sync.ts'
import { makeChangeSets, type OpenChangeSet } from './change-set.ts'
import type { Change, ChangeSet } from './recorded-change.ts'
import type { Account } from '../tools/tool.ts'

/** The result of undoing one change. */
export interface Undone {
  kind: Change['kind']
  target: string
  status: 'undone' | 'refused' | 'already'
  /** Why it was refused. */
  reason?: string
}

interface Deps {
  database: Database
  clock: Clock
  files: Pick<Files, 'undoable'>
}

const PAGE = { default: 20, max: 100 }

/** The changes the assistant made, by answer, and their undo. */
export function makeLedger({ database, clock, files }: Deps) {
  const open = makeChangeSets({ database, clock })

  async function undo(tx: Writer, editor: ComponentEditor, change: Change, now: number): Promise<Change[]> {
    const { user } = editor
    if (isFileChange(change)) return files.undoable.undo(tx, user, change)
    if (isComponentChange(change)) return [await undoableComponents.undo(tx, editor, change)]
    const undone = await undoableRows.undo(tx, user, change, now)
    return undone ? [undone] : []
  }

  /** Undoes one change completely or not at all. */
  async function undoItem(editor: ComponentEditor, item: Omit<StoredItem, 'data'>, into: OpenChangeSet) {
    const about = { kind: item.kind as Change['kind'], target: item.target }
    if (item.undone_by !== null) return { ...about, status: 'already' } as const
    let isDone = false
    try {
      await into.change(
        async (tx, now) => {
          const stored = await itemOf(tx, item.id)
          // Another request undid it meanwhile.
          if (!stored || stored.undone_by !== null) return []
          isDone = true
          return undo(tx, editor, JSON.parse(stored.data) as Change, now)
        },
        (tx, set) => (isDone ? markUndone(tx, item.id, set) : Promise.resolve()),
      )
    } catch (error) {
      // A refusal is the result of this change only; the others are still undone.
      if (!isFault(error) || error.status >= 500) throw error
      return { ...about, status: 'refused', reason: error.message } as const
    }
    return { ...about, status: isDone ? 'undone' : 'already' } as const
  }

  return {
    open: ({ account, conversation }: { account: Pick<Account, 'id'>; conversation: number | undefined }): ChangeSet =>
      open(account.id, { conversation }),

    /** Change sets of an account, newest first, with their changes in order. */
    async list(user: number, { before, limit = PAGE.default }: { before?: number; limit?: number }) {
      const max = Math.min(limit, PAGE.max)
      return database.snapshot(async (at) => {
        const found = await setsOf(at, user, { before, limit: max + 1 })
        const sets = found.slice(0, max)
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
          has_more: found.length > max,
        }
      })
    },

    /**
     * Undoes a change set, its last change first, each change completely or not at all; refuses changes whose object
     * changed since. The undo is a change set itself. A second undo only undoes what was refused before. Fault `not_found`.
     */
    async undo(editor: ComponentEditor, id: number): Promise<{ change_set_id: number | null; items: Undone[] }> {
      const { user } = editor
      const set = await setOf(database.read, user, id)
      if (!set) throw fault('not_found')
      const into = open(user, { conversation: set.conversation_id ?? undefined, undoes: id })
      const items: Undone[] = []
      for (const item of (await itemsOf(database.read, [id])).reverse()) items.push(await undoItem(editor, item, into))
      return { change_set_id: into.id() ?? null, items }
    },
  }
}

export type Ledger = ReturnType<typeof makeLedger>
