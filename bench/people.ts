import { insertAccount } from '../src/storage/accounts.ts'
import { replaceToken } from '../src/storage/device-tokens.ts'
import { openSqlite } from '../src/storage/sqlite.ts'
import { hashToken, newToken } from '../src/domain/accounts/tokens.ts'
import { openLocal } from '../src/wiring/local.ts'
import { TIME } from './seeds.ts'
import { numbers } from './samples.ts'

/** Somebody with a device token and a browser session. */
export interface Person {
  id: number
  username: string
  token: string
  cookie: string
}

const FOR_EVER = { now: TIME, idleSince: -1, madeSince: -1 }

/** Gives a data directory more accounts, straight into its database: hashing a password for each would take long. */
export async function addPeople(dataDir: string, count: number, passwordHash = '-'): Promise<Person[]> {
  const local = await openLocal({ dataDir, env: {} })
  const database = openSqlite(local.directory.database)
  try {
    return await database.write(async (tx) => {
      const people: Person[] = []
      for (const number of numbers(count)) {
        const username = `person-${number}`
        const names = { username, display_name: `Person ${number}`, avatar_color: '#336699' }
        const account = { ...names, role: 'user', password_hash: passwordHash, quota_bytes: null } as const
        const now = Date.now()
        const id = (await insertAccount(tx, account, now))!
        const token = newToken()
        const device = { device_id: `device-${number}`, device_name: 'Benchmark', token_hash: hashToken(token) }
        const stamps = { created_at: now, last_used_at: now, last_ip: null, expires_at: null }
        await replaceToken(tx, { user_id: id, ...device, ...stamps }, FOR_EVER, 1)
        const place = { ip: '127.0.0.1', userAgent: 'Benchmark' }
        people.push({ id, username, token, cookie: await local.domain.accounts.sessions.begin(tx, id, place) })
      }
      return people
    })
  } finally {
    await database.close()
    await local.close()
  }
}
