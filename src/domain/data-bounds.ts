import { formatCount } from '../base/counts.ts'
import { formatSize } from '../base/sizes.ts'
import { fault } from '../contract/errors.ts'
import { dataUsage, type DataUsage } from '../storage/engine/data-usage.ts'
import type { DataBound, DataKind } from '../storage/engine/data-kinds.ts'
import type { Database, Writer } from '../storage/engine/database.ts'

/** Quotas of an account's data in the database, by kind; a missing kind is unlimited. */
export type DataBounds = Partial<Record<DataKind, DataBound>>

type BoundName = 'rows.max_bytes' | 'rows.max_rows' | 'chat.max_bytes' | 'components.max_bytes' | 'assistant.max_bytes'

interface BoundSettings {
  values(): Promise<Record<BoundName, number>>
}

/** The configured quotas. Push results have none: upkeep deletes the oldest. */
export const dataBoundsOf = (settings: BoundSettings) => async () => {
  const values = await settings.values()
  return {
    rows: { bytes: values['rows.max_bytes'], items: values['rows.max_rows'] },
    chat: { bytes: values['chat.max_bytes'], items: -1 },
    components: { bytes: values['components.max_bytes'], items: -1 },
    assistant: { bytes: values['assistant.max_bytes'], items: -1 },
  } satisfies DataBounds
}

/** The database with transactions that carry the quotas, so that no function has to pass them on. */
export const bounded = (database: Database, bounds: () => Promise<DataBounds>): Database => ({
  ...database,
  write: (scope, unit) => database.write(scope, (tx) => unit({ ...tx, bounds })),
})

const NONE: DataBound = { bytes: -1, items: -1 }

/** The quota of one kind. */
export const boundOf = async (tx: Writer, kind: DataKind): Promise<DataBound> => (await tx.bounds?.())?.[kind] ?? NONE

const NAMES: Record<DataKind, string> = {
  rows: 'rows',
  chat: 'messages',
  components: 'components',
  assistant: 'conversations with the assistant',
  pushes: 'remembered changes',
}

/** The message for an exceeded quota; undefined within it. */
export function excessOf(kind: DataKind, { bytes, items }: DataUsage, bound: DataBound): string | undefined {
  const limit =
    bound.bytes >= 0 && bytes > bound.bytes
      ? formatSize(bound.bytes)
      : bound.items >= 0 && items > bound.items
        ? formatCount(bound.items)
        : undefined
  return limit && `An account may keep ${limit} of ${NAMES[kind]}, and that is used up: delete some.`
}

/** Fault `quota_exceeded` if `work` grows the account's data beyond its quota; it may always shrink. */
export async function withinBound<T>(
  tx: Writer,
  user: number,
  kind: DataKind,
  work: () => Promise<T>,
  how: 'may grow' | 'always grows' = 'may grow',
): Promise<T> {
  const bound = await boundOf(tx, kind)
  if (bound.bytes < 0 && bound.items < 0) return work()
  const before = how === 'may grow' ? await dataUsage(tx, user, kind) : undefined
  const result = await work()
  const after = await dataUsage(tx, user, kind)
  const text = excessOf(kind, after, bound)
  if (text && (!before || after.bytes > before.bytes || after.items > before.items))
    throw fault('quota_exceeded', { text })
  return result
}
