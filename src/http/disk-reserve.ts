import { fault } from '../contract/errors.ts'
import type { Machine } from './machine.ts'

/** Bytes kept free, so that users can delete and administrators can act on a disk that uploads filled. */
const RESERVE = 64 * 1024 * 1024
/** Of a small disk no more than this share. */
const SHARE = 0.05
/** How long a look at the disk is trusted to let requests in, ms; nothing is refused on an old one. */
const HOLDS = 200

export interface DiskReserve {
  /** Throws `disk_full` when so many more bytes would not leave the reserve; `now` looks anew. */
  assertRoom(bytes: number, when?: 'lately' | 'now'): Promise<void>
}

export function makeDiskReserve(disk: Machine['disk']): DiskReserve {
  let looked: { at: number; room: Promise<number> } | undefined
  async function room(): Promise<number> {
    const { total, free } = await disk()
    return free - Math.min(RESERVE, total * SHARE)
  }
  return {
    async assertRoom(bytes, when = 'lately') {
      const now = performance.now()
      const recent = when === 'lately' && looked && now - looked.at <= HOLDS ? looked : undefined
      if (recent && (await recent.room) >= bytes) return
      // A disk that does not say how full it is refuses nothing by itself.
      looked = { at: now, room: room().catch(() => Infinity) }
      if ((await looked.room) < bytes) throw fault('disk_full')
    },
  }
}
