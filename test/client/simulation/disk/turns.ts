import type { Disk } from './disk.ts'

/** Does a deed when its turn comes; of a machine that was switched off meanwhile nothing is heard any more. */
export type Turns = <T>(disk: Disk, label: string, deed: () => T) => Promise<T>

let turns: Turns | undefined

/** Who decides when calls that do not block are done. */
export const decideTurns = (by: Turns | undefined): void => void (turns = by)

export const inTurn: Turns = (disk, label, deed) => {
  if (!turns) throw new Error('Nobody decides whose turn it is.')
  return turns(disk, label, deed)
}
