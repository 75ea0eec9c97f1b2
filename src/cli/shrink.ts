import { formatSize } from '../base/sizes.ts'
import { flag } from './command.ts'

/** The flag of commands that free room in the database. */
export const shrinkFlag = {
  shrink: flag.switch(
    'give freed room of the database back to the disk: writers wait, and it needs as much room again',
  ),
}

/** What giving room back came to, for people. */
export const shrunkText = ({ before, after }: { before: number; after: number }): string =>
  `The database has ${formatSize(after)} now, ${formatSize(Math.max(0, before - after))} less.`
