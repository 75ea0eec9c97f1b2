import type { Reader, Writer } from './database.ts'

// What is remembered of the last backups, one value a kind, as JSON.

/** `done` and `failed`: the last backup that was made or could not be. `proven`: the last one that a drill restored. `attempt`: the last one that the schedule began. */
export type RecordKind = 'done' | 'failed' | 'proven' | 'attempt'

const keyOf = (kind: RecordKind): string => `backup:${kind}`

export async function putRecord(tx: Writer, kind: RecordKind, value: object): Promise<void> {
  const row = { key: keyOf(kind), value: JSON.stringify(value) }
  await tx.q
    .insertInto('instance')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: row.value }))
    .execute()
}

/** The value stored last, or undefined. */
export async function recordOf<T>(on: Reader, kind: RecordKind): Promise<T | undefined> {
  const row = await on.q.selectFrom('instance').select('value').where('key', '=', keyOf(kind)).executeTakeFirst()
  return row && (JSON.parse(row.value) as T)
}
