import { excessAudit, forgetAuditUpTo } from '../../storage/instance/audit.ts'
import { compactUpTo, excessTombstones } from '../../storage/feed/changes.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import { excessPushes, forgetPushesUpTo } from '../../storage/feed/pushes.ts'
import { inSlices } from '../../storage/engine/slices.ts'
import type { Values } from './options.ts'

/** Deletes the oldest records of an account beyond its limits. */
export async function trim(database: Database, values: Values): Promise<void> {
  async function each<T>(
    find: (on: Reader, max: number) => Promise<T[]>,
    forget: (tx: Writer, excess: T, limit: number) => Promise<number>,
    max: number,
  ): Promise<void> {
    if (max < 0) return
    for (const excess of await database.snapshot((at) => find(at, max)))
      await inSlices(database, (tx, limit) => forget(tx, excess, limit))
  }
  await each(excessTombstones, compactUpTo, values['retention.tombstones_max'])
  await each(excessPushes, forgetPushesUpTo, values['retention.pushes_max'])
  await each(excessAudit, forgetAuditUpTo, values['retention.audit_max'])
}
