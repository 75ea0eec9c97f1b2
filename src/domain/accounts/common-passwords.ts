import list from './common-passwords.json' with { type: 'json' }

let known: ReadonlySet<string> | undefined

/**
 * The passwords that are tried first everywhere, in lower case, the most frequent first. Only those of at least eight bytes:
 * shorter ones are refused anyway. Source and licence stand beside them.
 */
export function commonPasswords(): ReadonlySet<string> {
  known ??= new Set(list.passwords.split(' '))
  return known
}
