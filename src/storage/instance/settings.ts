import { first, prepared, type Reader, type Writer } from '../engine/database.ts'
import { randomHex } from '../../base/random.ts'

/** Changes with every setting, so that processes know when to reload. */
const VERSION = '#version'

const versionQuery = prepared<Record<string, never>, { value: string }>(({ q }) =>
  q.selectFrom('settings').select('value').where('key', '=', VERSION),
)

export const settingsVersion = async (on: Reader): Promise<string> => (await first(versionQuery(on, {})))?.value ?? ''

/** Values as JSON text, by name. */
export async function storedSettings(on: Reader): Promise<Map<string, string>> {
  const rows = await on.q.selectFrom('settings').selectAll().where('key', '!=', VERSION).execute()
  return new Map(rows.map(({ key, value }) => [key, value]))
}

/** Stores a setting as JSON text; deletes it if `value` is undefined. */
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

/** A constant fact of this installation: created if missing. */
export async function instanceFact(tx: Writer, key: string, make: () => string): Promise<string> {
  const known = await findFact(tx, key)
  if (known !== undefined) return known
  const value = make()
  await tx.q.insertInto('instance').values({ key, value }).execute()
  return value
}

/** Stores a variable fact of this installation; deletes it if `value` is undefined. */
export async function noteFact(tx: Writer, key: string, value: string | undefined): Promise<void> {
  await tx.q.deleteFrom('instance').where('key', '=', key).execute()
  if (value !== undefined) await tx.q.insertInto('instance').values({ key, value }).execute()
}

export async function findFact(on: Reader, key: string): Promise<string | undefined> {
  return (await on.q.selectFrom('instance').select('value').where('key', '=', key).executeTakeFirst())?.value
}

/** Stores or replaces a fact. */
export async function putFact(tx: Writer, key: string, value: string): Promise<void> {
  await tx.q
    .insertInto('instance')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}

/** Like `findFact`, for an installation that was opened before. */
export async function knownFact(on: Reader, key: string): Promise<string> {
  const value = await findFact(on, key)
  if (value === undefined) throw new Error(`The installation has no ${key}.`)
  return value
}
