import { fault } from '../../contract/errors.ts'
import type { Writer } from '../../storage/engine/database.ts'
import { liveNodes } from '../../storage/files/history.ts'
import type { Allowance } from './allowance.ts'

interface Parts {
  allowance: () => Promise<Allowance>
}

/** Number of nodes that may be created before the next count. */
interface Counted {
  left: number
  /** The limit at the last count. */
  max: number
}

/** Divisor of the remaining room that may be used before the next count: several servers count independently. */
const SHARE = 4

/** Limits the number of files and folders of an account. Counting is slow in large accounts, so counts are cached. */
export function makeBounds({ allowance }: Parts) {
  const counted = new Map<number, Counted>()

  return {
    /** Claims room for `count` new files and folders: fault `too_many_files`. */
    async claim(tx: Writer, user: number, count: number): Promise<void> {
      const { maxNodes: max } = await allowance()
      const known = counted.get(user)
      if (known?.max === max && known.left >= count) {
        known.left -= count
        return
      }
      // The root does not count.
      const room = max + 1 - (await liveNodes(tx, user))
      if (count > room) throw fault('too_many_files', { text: `An account may have at most ${max} files and folders.` })
      counted.set(user, { left: Math.floor((room - count) / SHARE), max })
    },
  }
}

export type Bounds = Pick<ReturnType<typeof makeBounds>, 'claim'>
