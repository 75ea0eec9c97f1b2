import { formatSize } from '../base/sizes.ts'
import { flag } from './command.ts'

export const vacuumFlag = {
  shrink: flag.switch('return free space of the database to the disk; blocks writers and needs as much space again'),
}

/** Sizes of the database in bytes, before and after, as a sentence. */
export const vacuumText = ({ before, after }: { before: number; after: number }): string =>
  `The database now takes ${formatSize(after)}, ${formatSize(Math.max(0, before - after))} less than before.`
