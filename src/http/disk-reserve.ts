import { fault } from '../contract/errors.ts'
import type { HostStatus } from './host-status.ts'

/** Free bytes that uploads must leave, so that users can still delete and administrators can still act. */
const RESERVED_BYTES = 64 * 1024 * 1024
/** On a small disk, the reserve is this share of it. */
const RESERVED_SHARE = 0.05
/** How long in ms a successful check is reused. A refusal always checks again. */
const CHECK_VALID_MS = 200

export interface DiskReserve {
  /** Throws `disk_full` when `bytes` more would use up the reserve. `now` ignores the last result. */
  assertRoom(bytes: number, when?: 'lately' | 'now'): Promise<void>
}

/** Guards the disk that receives uploads. */
export function makeDiskReserve(disk: HostStatus['disk']): DiskReserve {
  let last: { at: number; room: Promise<number> } | undefined
  async function room(): Promise<number> {
    const { total, free } = await disk()
    return free - Math.min(RESERVED_BYTES, total * RESERVED_SHARE)
  }
  return {
    async assertRoom(bytes, when = 'lately') {
      const now = performance.now()
      const recent = when === 'lately' && last && now - last.at <= CHECK_VALID_MS ? last : undefined
      if (recent && (await recent.room) >= bytes) return
      // If the free space is unknown, uploads are not refused.
      last = { at: now, room: room().catch(() => Infinity) }
      if ((await last.room) < bytes) throw fault('disk_full')
    },
  }
}
