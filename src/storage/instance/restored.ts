import { randomHex } from '../../base/random.ts'
import type { Writer } from '../engine/database.ts'

/** What no backup keeps and no restore brings back: whoever is about to sign in, and what counts attempts. */
export const transientTables = [
  'sessions',
  'pending_logins',
  'login_throttles',
  'setup_links',
  'bypass_codes',
  'collector_holds',
  'content_removals',
] as const

/**
 * Makes a restored database one of its own: a new epoch, so that every client notices that time went back, and nobody
 * signed in but the devices that are to stay. Returns how many devices were signed out.
 */
export async function beginEpoch(
  tx: Writer,
  { keepDevices }: { keepDevices: boolean },
): Promise<{ epoch: string; devices: number }> {
  const epoch = randomHex(16)
  await tx.q.updateTable('instance').set({ value: epoch }).where('key', '=', 'epoch').execute()
  for (const table of transientTables) await tx.q.deleteFrom(table).execute()
  const gone = keepDevices ? [] : await tx.q.deleteFrom('device_tokens').returning('id').execute()
  return { epoch, devices: gone.length }
}
