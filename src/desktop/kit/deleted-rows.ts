import { effect, type Signal } from '@preact/signals'
import type { TableName } from '../../contract/tables.ts'
import { ApiError } from './api-error.ts'
import type { Autosave } from './autosave.ts'
import type { Entry } from './overlay.ts'
import type { Fields, Row, Table } from './rows.ts'

interface Options<N extends TableName> {
  table: Table<N>
  drafts: Autosave<N>
  /** Key of the open entry. */
  open: Signal<string | undefined>
  fieldsOf: (row: Row<N>) => Fields<N>
}

/** What is deleted elsewhere while it is open or changed stays, as a draft. Returns a function that deletes an entry here. */
export function keepDeletedRows<N extends TableName>({ table, drafts, open, fieldsOf }: Options<N>) {
  /** The last state of rows that are open or changed. */
  const known = new Map<number, Row<N>>()
  const removed = new Set<number>()

  /** The keys of entries with unsaved changes, and of the open one, by the ids of their rows. */
  function editedRows(): Map<number, string> {
    const edited = new Map<number, string>()
    const key = open.value
    if (key !== undefined) edited.set(drafts.insertedId(key) ?? Number(key), key)
    for (const draft of drafts.all.value.values()) if (draft.id !== undefined) edited.set(draft.id, draft.key)
    return edited
  }

  effect(() => {
    for (const { key, isUntouched } of drafts.all.value.values())
      if (isUntouched && key !== open.value) drafts.resolve(key, 'theirs')
    const edited = editedRows()
    for (const id of known.keys()) if (!edited.has(id)) known.delete(id)
    for (const [id, key] of edited) {
      const row = table.get(id)
      const last = known.get(id)
      if (row) known.set(id, row)
      else if (last && known.delete(id) && !removed.has(id)) drafts.keepDeleted(key, id, fieldsOf(last))
    }
  })

  async function removeRow(id: number): Promise<void> {
    removed.add(id)
    try {
      await table.remove(id)
    } catch (error) {
      removed.delete(id)
      throw error
    }
  }

  const isSaving = (key: string): boolean => drafts.all.value.get(key)?.state === 'saving'

  /** Saves a new entry that was sent without an answer: it may have a row. Throws `unreachable` if that stays unknown. */
  async function finishInsert(key: string): Promise<void> {
    const isSent = (): boolean => {
      const draft = drafts.all.peek().get(key)
      return draft?.sent !== undefined && draft.id === undefined && ['saving', 'waiting'].includes(draft.state)
    }
    if (!isSent()) return
    drafts.flush()
    let stop = (): void => {}
    await new Promise<void>((resolve) => (stop = effect(() => void (isSaving(key) || resolve()))))
    stop()
    if (isSent()) throw new ApiError({ code: 'unreachable', message: '' })
  }

  /** The entry may have got its row since it was shown. */
  return async ({ key, row }: Entry<N>): Promise<void> => {
    await finishInsert(key)
    const id = row?.id ?? drafts.insertedId(key)
    if (id !== undefined && table.get(id)) await removeRow(id)
    const draft = drafts.all.peek().get(key) ?? (id === undefined ? undefined : drafts.of(id))
    if (draft) drafts.resolve(draft.key, 'theirs')
  }
}
