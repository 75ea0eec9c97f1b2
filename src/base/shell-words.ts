/** A word as a POSIX shell reads it. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`

/** A command line of svc to copy, with the data directory if one was given to this command. */
export const commandLine = ({ dataDir }: { dataDir?: string | undefined }, words: readonly string[]): string =>
  ['svc', ...words, ...(dataDir === undefined ? [] : ['--data-dir', dataDir])].map(quoted).join(' ')
