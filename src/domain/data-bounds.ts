import { formatCount } from '../base/counts.ts'
import { formatSize } from '../base/sizes.ts'
import { fault } from '../contract/errors.ts'
import { dataUsage, type DataUsage } from '../storage/engine/data-usage.ts'
import type { DataBound, DataKind } from '../storage/engine/data-kinds.ts'
import type { Database, Writer } from '../storage/engine/database.ts'

/** What an account may keep in the database, by kind; what is not named has no bound that refuses anything. */
export type DataBounds = Partial<Record<DataKind, DataBound>>

type BoundName = 'rows.max_bytes' | 'rows.max_rows' | 'chat.max_bytes' | 'components.max_bytes' | 'assistant.max_bytes'

interface BoundSettings {
  values(): Promise<Record<BoundName, number>>
}

/** The bounds that the settings name. What is remembered of pushes has none that refuses: upkeep forgets the oldest. */
export const dataBoundsOf = (settings: BoundSettings) => async () => {
  const values = await settings.values()
  return {
    rows: { bytes: values['rows.max_bytes'], items: values['rows.max_rows'] },
    chat: { bytes: values['chat.max_bytes'], items: -1 },
    components: { bytes: values['components.max_bytes'], items: -1 },
    assistant: { bytes: values['assistant.max_bytes'], items: -1 },
  } satisfies DataBounds
}

/** The database with transactions that know the bounds: no function between a request and what it stores passes them on. */
export const bounded = (database: Database, bounds: () => Promise<DataBounds>): Database => ({
  ...database,
  write: (unit) => database.write((tx) => unit({ ...tx, bounds })),
})

const NONE: DataBound = { bytes: -1, items: -1 }

/** The bound of one kind. */
export const boundOf = async (tx: Writer, kind: DataKind): Promise<DataBound> => (await tx.bounds?.())?.[kind] ?? NONE

const NAMES: Record<DataKind, string> = {
  rows: 'rows',
  chat: 'messages',
  components: 'components',
  assistant: 'conversations with the assistant',
  pushes: 'remembered changes',
}

/** What is wrong with an amount; undefined when it is within the bound. */
export function excessOf(kind: DataKind, { bytes, items }: DataUsage, bound: DataBound): string | undefined {
  const most =
    bound.bytes >= 0 && bytes > bound.bytes
      ? formatSize(bound.bytes)
      : bound.items >= 0 && items > bound.items
        ? formatCount(bound.items)
        : undefined
  return most && `An account may keep ${most} of ${NAMES[kind]}, and that is used up: delete some.`
}

/**
 * Does something in a transaction that changes what an account keeps. Fault `quota_exceeded` when that grows beyond its bound;
 * what does not grow always passes.
 */
export async function withinBound<T>(tx: Writer, user: number, kind: DataKind, work: () => Promise<T>): Promise<T> {
  const bound = await boundOf(tx, kind)
  if (bound.bytes < 0 && bound.items < 0) return work()
  const before = await dataUsage(tx, user, kind)
  const result = await work()
  const after = await dataUsage(tx, user, kind)
  const text = excessOf(kind, after, bound)
  if (text && (after.bytes > before.bytes || after.items > before.items)) throw fault('quota_exceeded', { text })
  return result
}
