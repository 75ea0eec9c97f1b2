import { fault } from '../../contract/errors.ts'
import type { Writer } from '../../storage/engine/database.ts'
import { liveNodes } from '../../storage/files/history.ts'
import type { Allowance } from './allowance.ts'

interface Parts {
  allowance: () => Promise<Allowance>
}

/** What an account may still make before its files and folders are counted anew. */
interface Counted {
  left: number
  /** The bound when it was counted. */
  max: number
}

/** Of the room that a count finds, what may be used up before the next count: several servers count for themselves. */
const SHARE = 4

/** The bound of files and folders of an account. Counting takes longer the more there are, so counts are made use of. */
export function makeBounds({ allowance }: Parts) {
  const counted = new Map<number, Counted>()

  return {
    /** Refuses `count` files and folders that are about to be made where these are too many: fault `too_many_files`. */
    async claim(tx: Writer, user: number, count: number): Promise<void> {
      const { maxNodes: max } = await allowance()
      const known = counted.get(user)
      if (known?.max === max && known.left >= count) {
        known.left -= count
        return
      }
      // Its root is none of them.
      const room = max + 1 - (await liveNodes(tx, user))
      if (count > room) throw fault('too_many_files', { text: `An account may have at most ${max} files and folders.` })
      counted.set(user, { left: Math.floor((room - count) / SHARE), max })
    },
  }
}

export type Bounds = Pick<ReturnType<typeof makeBounds>, 'claim'>
