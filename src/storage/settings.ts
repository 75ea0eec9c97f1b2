import { first, prepared, type Reader, type Writer } from './database.ts'
import { randomHex } from '../base/random.ts'

/** Changes with every change of a setting, so that a process can keep what it read until then. */
const VERSION = '#version'

const versionQuery = prepared<Record<string, never>, { value: string }>(({ q }) =>
  q.selectFrom('settings').select('value').where('key', '=', VERSION),
)

export const settingsVersion = async (on: Reader): Promise<string> => (await first(versionQuery(on, {})))?.value ?? ''

/** Every stored setting: key to JSON text. */
export async function storedSettings(on: Reader): Promise<Map<string, string>> {
  const rows = await on.q.selectFrom('settings').selectAll().where('key', '!=', VERSION).execute()
  return new Map(rows.map(({ key, value }) => [key, value]))
}

/** Stores a setting as JSON text, or removes it when `value` is undefined. */
export async function storeSetting(tx: Writer, key: string, value: string | undefined): Promise<void> {
  if (value === undefined) await tx.q.deleteFrom('settings').where('key', '=', key).execute()
  else await put(tx, key, value)
  await put(tx, VERSION, randomHex(8))
}

const put = (tx: Writer, key: string, value: string) =>
  tx.q
    .insertInto('settings')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()

/** A fact about this installation that is made once: stored when missing, then always the same. */
export async function instanceFact(tx: Writer, key: string, make: () => string): Promise<string> {
  const row = await tx.q.selectFrom('instance').select('value').where('key', '=', key).executeTakeFirst()
  if (row) return row.value
  const value = make()
  await tx.q.insertInto('instance').values({ key, value }).execute()
  return value
}

/** The fact that an installation which was opened before has under a key. */
export async function knownFact(on: Reader, key: string): Promise<string> {
  return (await on.q.selectFrom('instance').select('value').where('key', '=', key).executeTakeFirstOrThrow()).value
}
