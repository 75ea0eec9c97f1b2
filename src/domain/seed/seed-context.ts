import { hash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { accountByName, type Account } from '../../storage/accounts/accounts.ts'
import type { Database } from '../../storage/engine/database.ts'
import { rememberSeeded, seededOf, type Seeded } from '../../storage/instance/seeded.ts'
import { normalName, type Accounts } from '../accounts/accounts.ts'
import type { Chat } from '../chat/chat.ts'
import type { Desktop } from '../desktop/desktop.ts'
import type { Files } from '../files/files.ts'
import type { Audit, Settings } from '../instance/instance.ts'
import { peopleOf, type ReadSeed } from './check.ts'
import type { Problem } from './problems.ts'
import type { SeedUser } from './seed-schema.ts'

/** What a seed is planned and put into effect with. */
export interface SeedContext {
  database: Database
  clock: Clock
  audit: Audit
  settings: Settings
  accounts: Accounts
  chat: Chat
  desktop: Desktop
  files: Files
}

/** A file or folder beside the seed. */
export type Found =
  | { kind: 'file'; size: number; mtime: number }
  /** Everything below, folders before what they hold; paths are relative, with slashes. */
  | { kind: 'folder'; entries: { path: string; kind: 'file' | 'folder'; size: number; mtime: number }[] }

/** What stands beside a seed. Whatever cannot be had is refused with `SourceError`. */
export interface Sources {
  look(path: string): Promise<Found>
  read(path: string): AsyncIterable<Uint8Array>
  /** The password in the only line of a file. */
  secret(path: string): Promise<string>
}

/** Something beside the seed cannot be used; the message is a clause. */
export class SourceError extends Error {
  override name = 'SourceError'
}

export interface SeedOptions {
  /** Gives accounts that are there already the password of the seed. */
  resetPasswords?: boolean
}

/** One line of a plan. */
export interface Item {
  /** `keep` is for what the seed made once and somebody else changed or removed since, or had before. */
  action: 'add' | 'change' | 'keep'
  kind: 'setting' | 'app' | 'user' | 'row' | 'component' | 'file' | 'room' | 'member' | 'message'
  /** What it is about: `quota of bob: 1 GB → 2 GB`. */
  text: string
}

/** A secret that was made, to be shown once. */
export interface Made {
  kind: 'password'
  username: string
  secret: string
}

/** Told while a plan is carried out. */
export interface Watcher {
  /** So many items more are done. */
  done(count: number): void
  made(secret: Made): void
}

/** A part of a plan: its lines, and what carries them out. */
export interface Part {
  items: Item[]
  unchanged: number
  apply(watcher: Watcher): Promise<void>
}

/** An account that a seed speaks of. */
export interface Person {
  username: string
  /** Undefined until it is made. */
  account: Account | undefined
  id: number | undefined
  /** What earlier seeds made for it, by kind and key. */
  seeded: Map<string, Seeded>
}

/** Everything that plans share. */
export interface Planning extends SeedContext {
  seed: ReadSeed
  sources: Sources
  options: SeedOptions
  people: Map<string, Person>
  problems: Problem[]
}

const nameIn = (kind: string, key: string): string => `${kind}\0${key}`

/** What a seed made before under a name. */
export const seededBefore = ({ seeded }: Person, kind: string, key: string): Seeded | undefined =>
  seeded.get(nameIn(kind, key))

/** The hash by which the next run sees whether the seed says the same of a thing as before: 128 bits of SHA-256. */
export const hashOf = (...said: unknown[]): string => hash('sha256', JSON.stringify(said)).slice(0, 32)

/** Notes what a seed made, in a transaction of its own. */
export const remember = ({ database }: SeedContext, { id }: Person, entries: readonly Seeded[]): Promise<void> =>
  entries.length === 0 ? Promise.resolve() : database.write((tx) => rememberSeeded(tx, id!, entries))

/** The accounts that a seed speaks of, as they are now. */
export async function meet({ database }: SeedContext, { users, rooms }: ReadSeed): Promise<Map<string, Person>> {
  const names = new Set([
    ...users.map(({ value }) => normalName(value.username)),
    ...rooms.flatMap(({ value }) => peopleOf(value)),
  ])
  const people = new Map<string, Person>()
  for (const username of names) {
    const account = await accountByName(database.read, username)
    const seeded = account ? await seededOf(database.read, account.id) : []
    const byName = new Map(seeded.map((entry) => [nameIn(entry.kind, entry.key), entry]))
    people.set(username, { username, account, id: account?.id, seeded: byName })
  }
  return people
}

/** The person behind an entry of `users`. */
export const personOf = ({ people }: Planning, { username }: Pick<SeedUser, 'username'>): Person =>
  people.get(normalName(username))!
