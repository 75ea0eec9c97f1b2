import { join } from 'node:path'
import { openSqlite } from '../../src/storage/engine/sqlite.ts'
import { makeAccount, type Account } from './account.ts'
import { makeClock } from './clock.ts'

/** A second account, written to the database of a server that another process runs at `url`. */
export async function accountInFolder(dataDir: string, url: string): Promise<Account> {
  const database = openSqlite(join(dataDir, 'svc.db'))
  const clock = makeClock(Date.now())
  try {
    await makeAccount({ url, database, clock }, { role: 'admin', username: 'root' })
    return await makeAccount({ url, database, clock }, { username: 'ada' })
  } finally {
    await database.close()
  }
}
