import type { Globals } from './command.ts'

/** A word as a POSIX shell reads it. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`

/** A command line of svc to copy, with the data directory of this one if it was given. */
export const commandLine = ({ dataDir }: Pick<Globals, 'dataDir'>, words: readonly string[]): string =>
  ['svc', ...words, ...(dataDir === undefined ? [] : ['--data-dir', dataDir])].map(quoted).join(' ')
