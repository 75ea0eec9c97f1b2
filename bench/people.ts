import { hashToken, newToken } from '../src/domain/accounts/tokens.ts'
import { insertAccount } from '../src/storage/accounts/accounts.ts'
import type { Writer } from '../src/storage/engine/database.ts'
import { replaceToken } from '../src/storage/accounts/device-tokens.ts'
import { openSqlite } from '../src/storage/engine/sqlite.ts'
import { openLocal, type Local } from '../src/wiring/local-domain.ts'
import { numbers } from './samples.ts'

/** A user with a device token and a browser session. */
export interface Person {
  id: number
  username: string
  /** Id of the token in the list of devices. */
  token_id: number
  token: string
  cookie: string
}

export interface NewPerson {
  username: string
  role?: 'user' | 'admin'
  /** Without one, no password is valid. */
  passwordHash?: string
  /** Part of the names of device and browser. */
  label?: string
}

/** Creates a user directly in the database: hashing passwords is slow. */
export async function enlist(tx: Writer, { domain }: Local, person: NewPerson): Promise<Person> {
  const { username, role = 'user', passwordHash = '-', label = 'Benchmark' } = person
  const names = { username, display_name: username, avatar_color: '#336699' }
  const now = Date.now()
  const id = (await insertAccount(tx, { ...names, role, password_hash: passwordHash, quota_bytes: null }, now))!
  return { id, username, ...(await signIn(tx, domain, id, label)) }
}

/** Adds another device and session to an account. */
export async function signIn(tx: Writer, { accounts }: Local['domain'], user: number, label: string) {
  const now = Date.now()
  const token = newToken()
  const device = { device_id: `device-${token.slice(0, 8)}`, device_name: label, token_hash: hashToken(token) }
  const stamps = { created_at: now, last_used_at: now, last_ip: null, expires_at: null }
  const lifetime = { now, idleSince: -1, madeSince: -1 }
  const token_id = await replaceToken(tx, { user_id: user, ...device, ...stamps }, lifetime, 20)
  const cookie = await accounts.sessions.begin(tx, user, { ip: '127.0.0.1', userAgent: label })
  return { token_id, token, cookie }
}

/** Adds accounts to a data directory. */
export async function addPeople(dataDir: string, count: number, passwordHash?: string): Promise<Person[]> {
  const local = await openLocal({ dataDir, env: {} })
  const database = openSqlite(local.directory.database)
  try {
    return await database.write('instance', async (tx) => {
      const people: Person[] = []
      for (const number of numbers(count))
        people.push(
          await enlist(tx, local, { username: `person-${number}`, ...(passwordHash ? { passwordHash } : {}) }),
        )
      return people
    })
  } finally {
    await database.close()
    await local.close()
  }
}
