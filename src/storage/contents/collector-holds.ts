import { sql } from 'kysely'
import { HOUR, MINUTE } from '../../base/clock.ts'
import { randomHex } from '../../base/random.ts'
import { Busy } from '../../base/errors.ts'
import type { Database, Reader } from '../engine/database.ts'

/** Duration of a hold that is not renewed, ms: its holder may have been killed. */
const HOLD = 10 * MINUTE

/** A hold that ends later was made while the clock of its machine ran ahead. */
const isCurrent = (now: number) => sql<boolean>`expires_at > ${now} and expires_at <= ${now + HOUR}`

/** While it exists, no process on the same database collects contents. */
export interface CollectorHold {
  id: string
  /** Throws `Busy` if the hold had expired (clock jump, sleep): the collector may have run. */
  renew(): Promise<void>
  release(): Promise<void>
}

/** Blocks the collector until released; for processes that copy contents. Deletes expired holds. */
export async function holdCollector(database: Pick<Database, 'write'>): Promise<CollectorHold> {
  const id = randomHex(8)
  await database.write('instance', async (tx) => {
    const now = Date.now()
    await tx.q
      .deleteFrom('collector_holds')
      .where(sql<boolean>`not (${isCurrent(now)})`)
      .execute()
    await tx.q
      .insertInto('collector_holds')
      .values({ id, expires_at: now + HOLD })
      .execute()
  })
  const renew = async () => {
    const isStanding = await database.write('instance', async (tx) => {
      const now = Date.now()
      const renewed = await tx.q
        .updateTable('collector_holds')
        .set({ expires_at: now + HOLD })
        .where('id', '=', id)
        .where(isCurrent(now))
        .returning('id')
        .execute()
      return renewed.length > 0
    })
    if (!isStanding) throw new Busy('The clock jumped or the machine slept while contents were copied. Start again.')
  }
  return {
    id,
    renew,
    async release() {
      await database.write('instance', (tx) => tx.q.deleteFrom('collector_holds').where('id', '=', id).execute())
    },
  }
}

/** Whether the collector is blocked now, by the clock of this machine. */
export const collectorIsHeld = async (on: Reader): Promise<boolean> => (await currentHolds(on)).length > 0

/** IDs of the holds that have not expired. */
export async function currentHolds(on: Reader): Promise<string[]> {
  const rows = await on.q.selectFrom('collector_holds').select('id').where(isCurrent(Date.now())).execute()
  return rows.map(({ id }) => id)
}
