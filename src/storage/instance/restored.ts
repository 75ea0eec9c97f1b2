import { randomHex } from '../../base/random.ts'
import type { Writer } from '../engine/database.ts'

/** Tables that are neither backed up nor restored: pending logins and counters of attempts. */
export const transientTables = [
  'sessions',
  'pending_logins',
  'login_throttles',
  'setup_links',
  'bypass_codes',
  'collector_holds',
  'content_removals',
  'write_locks',
  'search_queue',
] as const

/** Gives the database a new epoch, so that clients and the search index notice that its rows went back. */
export async function renewEpoch(tx: Writer): Promise<string> {
  const epoch = randomHex(16)
  await tx.q.updateTable('instance').set({ value: epoch }).where('key', '=', 'epoch').execute()
  return epoch
}

/**
 * Prepares a restored database: a new epoch, so that every client notices the rollback, and no signed-in user except on
 * devices to keep. Returns the number of signed-out devices.
 */
export async function beginEpoch(
  tx: Writer,
  { keepDevices }: { keepDevices: boolean },
): Promise<{ epoch: string; devices: number }> {
  const epoch = await renewEpoch(tx)
  for (const table of transientTables) await tx.q.deleteFrom(table).execute()
  const gone = keepDevices ? [] : await tx.q.deleteFrom('device_tokens').returning('id').execute()
  return { epoch, devices: gone.length }
}
