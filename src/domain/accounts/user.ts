import { isSound, printable } from '../../base/text.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import type { Account } from '../../storage/accounts/accounts.ts'
import { UNNAMED_ACTORS } from '../instance/instance.ts'
import { invalidField } from './account-faults.ts'
import { looksLikeService } from './look-alikes.ts'
import { isUsername, normalName } from './usernames.ts'

/** A user as other layers see it: without the password hash. */
export interface User extends Omit<Account, 'password_hash'> {}

export const withoutHash = ({ password_hash: _, ...user }: Account): User => user

const UNLIMITED = -1

const DISPLAY_NAME_LENGTH = 100

/** The normalised user name. ASCII only, so that no two names look or fold alike. */
export function readUsername(text: string): string {
  const name = normalName(text)
  if (isUsername(name)) return name
  throw invalidField(
    'username',
    'A user name has 1 to 64 characters: letters a-z, digits, ".", "_" and "-", beginning with a letter or a digit.',
  )
}

/** Refuses names for new accounts that are actors without an account in the audit log. */
export function assertNotReserved(username: string): void {
  if (Object.values<string>(UNNAMED_ACTORS).includes(username))
    throw invalidField('username', `The audit log uses the name "${username}" for others: choose another one.`)
}

export function readDisplayName(text: string): string {
  const name = text.trim()
  const fits = name !== '' && [...name].length <= DISPLAY_NAME_LENGTH
  if (!fits || !isSound(name) || printable(name) !== name)
    throw invalidField('display_name', `A display name has 1 to ${DISPLAY_NAME_LENGTH} characters, on one line.`)
  if (looksLikeService(name))
    throw invalidField('display_name', 'The service itself writes under this name, or one that looks like it.')
  return name
}

/** Refuses invalid quotas. Valid: bytes, -1 for unlimited, null for the default. */
export function assertQuota(bytes: number | null): void {
  if (bytes === null || bytes === UNLIMITED || (Number.isSafeInteger(bytes) && bytes >= 0)) return
  throw invalidField('quota_bytes', 'A quota is a whole number of bytes, or none.')
}

/** Refuses colours that are not of the form `#rrggbb`. */
export function assertColor(text: string): void {
  if (!/^#[0-9a-f]{6}$/.test(text)) {
    throw invalidField('avatar_color', 'A colour is written #rrggbb, with six digits from 0-9 and a-f.')
  }
}

export const missingUser = (name: string): Fault =>
  fault('not_found', { text: `There is no user named "${printable(name)}".` })

/** The account, unless it was removed since it was looked up: throws `not_found`. */
export async function orNotFound(found: Promise<Account | undefined>): Promise<Account> {
  const account = await found
  if (!account) throw fault('not_found', { text: 'The user no longer exists.' })
  return account
}
