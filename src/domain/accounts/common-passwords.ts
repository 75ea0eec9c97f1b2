import list from './common-passwords.json' with { type: 'json' }

let known: ReadonlySet<string> | undefined

/**
 * The most common passwords in lower case, most frequent first. Those below the minimum of eight bytes are left out. The
 * JSON file names its source and licence.
 */
export function commonPasswords(): ReadonlySet<string> {
  known ??= new Set(list.passwords.split(' '))
  return known
}
