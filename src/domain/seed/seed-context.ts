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

/** Dependencies of planning and applying a seed. */
export interface SeedContext {
  database: Database
  clock: Clock
  audit: Audit
  settings: Settings
  accounts: Accounts
  chat: Chat
  desktop: Desktop
  files: Files
  policy: () => Promise<{ hostName: string }>
}

export type Found =
  | { kind: 'file'; size: number; mtime: number }
  /** All entries below, folders before their contents; paths are relative, with slashes. */
  | { kind: 'folder'; entries: { path: string; kind: 'file' | 'folder'; size: number; mtime: number }[] }

/** Access to files beside a seed. Unreadable ones throw `SourceError`. */
export interface Sources {
  inspect(path: string): Promise<Found>
  read(path: string): AsyncIterable<Uint8Array>
  /** Reads a password from a file with a single line. */
  secret(path: string): Promise<string>
}

/** A referenced file cannot be used; the message is a clause. */
export class SourceError extends Error {
  override name = 'SourceError'
}

export interface SeedOptions {
  /** Sets the seed's passwords for existing accounts too. */
  resetPasswords?: boolean
}

/** One line of a plan. */
export interface Item {
  /** `keep` is for items that the seed created once and someone else has changed or removed, or that existed before. */
  action: 'add' | 'change' | 'keep'
  kind: 'setting' | 'app' | 'user' | 'row' | 'component' | 'file' | 'room' | 'member' | 'message'
  /** For example `quota of bob: 1 GB → 2 GB`. */
  text: string
}

/** A generated secret, shown once. */
export interface Made {
  kind: 'password'
  username: string
  secret: string
}

/** Callbacks while a plan is applied. */
export interface SeedProgress {
  /** The number of items just finished. */
  done(count: number): void
  made(secret: Made): void
}

/** A part of a plan: its lines, and the function that applies them. */
export interface Part {
  items: Item[]
  unchanged: number
  apply(watcher: SeedProgress): Promise<void>
}

export interface Person {
  username: string
  /** Undefined until it is created. */
  account: Account | undefined
  id: number | undefined
  /** Records of earlier seeds, by kind and key. */
  seeded: Map<string, Seeded>
}

/** State shared by all parts of a plan. */
export interface Planning extends SeedContext {
  seed: ReadSeed
  sources: Sources
  options: SeedOptions
  people: Map<string, Person>
  problems: Problem[]
}

const nameIn = (kind: string, key: string): string => `${kind}\0${key}`

/** The record of an item that a seed created before. */
export const seededBefore = ({ seeded }: Person, kind: string, key: string): Seeded | undefined =>
  seeded.get(nameIn(kind, key))

/** Detects in the next run whether the seed's description changed: 128 bits of SHA-256. */
export const hashOf = (...said: unknown[]): string => hash('sha256', JSON.stringify(said)).slice(0, 32)

/** Records what a seed created, in a transaction of its own. */
export const remember = ({ database }: SeedContext, { id }: Person, entries: readonly Seeded[]): Promise<void> =>
  entries.length === 0 ? Promise.resolve() : database.write('instance', (tx) => rememberSeeded(tx, id!, entries))

/** The accounts of a seed in their current state. */
export async function resolvePeople(
  { database }: SeedContext,
  { users, rooms }: ReadSeed,
): Promise<Map<string, Person>> {
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

export const personOf = ({ people }: Planning, { username }: Pick<SeedUser, 'username'>): Person =>
  people.get(normalName(username))!
