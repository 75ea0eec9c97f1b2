import list from './common-passwords.json' with { type: 'json' }

let known: ReadonlySet<string> | undefined

/** The most common passwords, most frequent first. The JSON file names its source and licence. */
export function commonPasswords(): ReadonlySet<string> {
  known ??= new Set(list.passwords.split(' '))
  return known
}
