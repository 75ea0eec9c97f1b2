import type { Options } from '@node-rs/argon2'
import { fault } from '../../contract/errors.ts'
import { byteLength, isSound } from '../../base/text.ts'
import { commonPasswords } from './common-passwords.ts'
import type { Queue } from './job-queue.ts'
import { invalidField } from './account-faults.ts'
import { normalName } from './usernames.ts'

const PASSWORD_BYTES = { min: 8, max: 1_024 } as const

/** OWASP's recommended parameters of argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } satisfies Options
const PREFIX = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$`

/** The hash of no password: compared if the name does not exist, so that the response takes as long. */
const NOBODY = `${PREFIX}${'A'.repeat(22)}$${'A'.repeat(43)}`

// Native code, loaded only by commands that hash passwords.
const argon2 = () => import('@node-rs/argon2')

export interface Passwords {
  hash(password: string): Promise<string>
  hashOf(password: string | { hash: string }): Promise<string>
  /**
   * Whether the password matches the hash. Without a hash, does the same work and returns false. `beforeHashing` runs after
   * the wait and may throw. Throws `busy` if too many wait.
   */
  matches(password: string, hash: string | undefined, beforeHashing: () => void): Promise<boolean>
  /** Whether the hash has the current parameters. */
  isCurrent(hash: string): boolean
}

/** Hashes passwords: exactly the bytes given, neither truncated nor normalised. `queue` bounds memory and threads. */
export function makePasswords(queue: Queue): Passwords {
  const hash = (password: string) => queue(async () => (await argon2()).hash(password, PARAMETERS))
  return {
    hash,
    hashOf: async (password) => (typeof password === 'string' ? hash(password) : password.hash),
    matches: (password, known, beforeHashing) =>
      queue(async () => {
        beforeHashing()
        const right = await (await argon2()).verify(known ?? NOBODY, password)
        return right && known !== undefined
      }),
    isCurrent: (known) => known.startsWith(PREFIX),
  }
}

/**
 * Hashing uses memory and a thread: two jobs at a time. The others wait some seconds: a flood that is refused at once comes
 * back at once, and takes the event loop's time. Then `busy`.
 */
export const hashingQueue = { atOnce: 2, waiting: 512, full: () => fault('busy', { retryAfter: 1 }) } as const

// PHC string format: parameters, salt and hash.
const ARGON2ID = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{22,86}$/

/** Upper bounds for imported hashes: KiB of memory, passes, lanes. */
const MAX_COST = { memory: 262_144, passes: 16, lanes: 16 } as const

/** Refuses values that are not argon2id hashes or too expensive to verify. */
export function assertPasswordHash(hash: string): void {
  const [, memory, passes, lanes] = ARGON2ID.exec(hash) ?? []
  if (memory === undefined)
    throw invalidField('password_hash', 'A password hash has the form $argon2id$v=19$m=…,t=…,p=…$…$….')
  const isAffordable =
    Number(memory) >= 8 &&
    Number(memory) <= MAX_COST.memory &&
    Number(passes) >= 1 &&
    Number(passes) <= MAX_COST.passes &&
    Number(lanes) >= 1 &&
    Number(lanes) <= MAX_COST.lanes
  if (!isAffordable)
    throw invalidField(
      'password_hash',
      'The parameters of the password hash are out of range (m at most 262144, t and p at most 16).',
    )
}

/** Bounds the size before anything is hashed (OWASP ASVS 5.0, 6.2.9). */
export function assertPasswordSize(password: string, field = 'password'): void {
  // A character has at least one byte, so the length alone rejects the worst cases.
  if (password.length > PASSWORD_BYTES.max || byteLength(password) > PASSWORD_BYTES.max) {
    throw invalidField(field, `A password has at most ${PASSWORD_BYTES.max} bytes.`)
  }
}

interface PasswordRules {
  /** Accepts one of the most common passwords. */
  allowWeak?: boolean
  /** Texts that others know: the display name, the host name of the service. */
  known?: readonly string[]
}

/** Refuses a new password that breaks a rule, and an invalid hash. */
export function assertChosenPassword(
  password: string | { hash: string },
  username: string,
  options: PasswordRules = {},
): void {
  if (typeof password === 'string') assertNewPassword(password, username, options)
  else assertPasswordHash(password.hash)
}

const LETTERS = /\p{L}+/gu

/** Words of two letters are ignored: half of all passwords consist of such words. */
const LEAST_LETTERS = 3

/** Words that people combine with the name of the service. */
const FREQUENT =
  'access account admin administrator backup benutzer changeme cloud default demo desktop files geheim guest hello home kennwort letmein login master pass password passwort private root secret secure server service start storage sync system temp test user welcome willkommen'.split(
    ' ',
  )

/** Whether a password consists only of these words, in any order and number, with digits and symbols between them. */
function isMadeOf(guess: string, texts: readonly string[]): boolean {
  const words = texts
    .flatMap((text) => {
      const parts = normalName(text).match(LETTERS) ?? []
      return [...parts, parts.join('')]
    })
    .filter((word) => word.length >= LEAST_LETTERS)
    .sort((a, b) => b.length - a.length)
  const letters = (guess.match(LETTERS) ?? []).join('')
  return letters !== '' && words.reduce((rest, word) => rest.replaceAll(word, ''), letters) === ''
}

/** Refuses a password that is too short, too long, common, or made of the user's names (OWASP ASVS 5.0, 6.2.1, .4, .11). */
export function assertNewPassword(
  password: string,
  username: string,
  { allowWeak = false, field = 'password', known = [] }: PasswordRules & { field?: string } = {},
): void {
  assertPasswordSize(password, field)
  if (byteLength(password) < PASSWORD_BYTES.min) {
    throw invalidField(field, `A password has at least ${PASSWORD_BYTES.min} bytes.`)
  }
  if (!isSound(password)) throw invalidField(field, 'A password consists of whole characters, without NUL.')
  if (allowWeak) return
  const guess = normalName(password)
  if (guess === username || [...guess].reverse().join('') === username) {
    throw invalidField(field, 'The password must not be the user name.')
  }
  const names = ['svc', username, ...known]
  if (isMadeOf(guess, names) || (guess.includes('svc') && isMadeOf(guess, [...names, ...FREQUENT]))) {
    throw invalidField(field, 'The password consists of well-known names; choose another one.')
  }
  if (commonPasswords().has(guess) || new Set(guess).size === 1) {
    throw invalidField(field, 'That is one of the most common passwords; choose another one.')
  }
}
