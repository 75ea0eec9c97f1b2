import { spawnSync } from 'node:child_process'
import { makeAccount } from './account.ts'
import type { Figure } from './figure.ts'
import { duration, interleave } from './rounds.ts'
import { seedUsers } from './seeds.ts'
import { plainEnv, SVC } from './server.ts'

const USERS = 10_000

/** The same rows as JSON, with SQLite alone. */
const RAW = `
const open = require(Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3')
const rows = open(process.argv[1], { readonly: true }).prepare(\`
  select u.id, u.username, u.display_name, u.avatar_color, u.role, u.quota_bytes, u.disabled_at, u.last_login_at,
    u.created_at, c.used_bytes, f.enabled_at, f.failures, f.locked_until,
    (select count(*) from device_tokens d where d.user_id = u.id) as devices,
    (select max(last_used_at) from device_tokens d where d.user_id = u.id) as device_used_at,
    (select count(*) from sessions s where s.user_id = u.id) as sessions,
    (select max(last_used_at) from sessions s where s.user_id = u.id) as session_used_at
  from users u join counters c on c.user_id = u.id left join second_factors f on f.user_id = u.id
  order by u.username\`).all()
process.stdout.write(rows.map((row) => JSON.stringify(row)).join('\\n') + '\\n')`

function run(...args: string[]): void {
  const { status, stdout } = spawnSync(process.execPath, args, {
    env: plainEnv(),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) throw new Error(`node ${args[0]} ended with ${status}.`)
  if (stdout.split('\n').length < USERS) throw new Error('The list was not complete.')
}

/** Listing 10,000 accounts with a command. */
export const userList: Figure = {
  name: 'user-list',
  unit: 'ms',
  peer: 'node with SQLite alone, the same rows',
  wanted: { most: 3 },
  async measure(workspace) {
    const { dataDir, database } = await makeAccount(workspace, (handle) => seedUsers(handle, USERS))
    return interleave({
      ours: () => duration(() => run(SVC, 'user', 'list', '--data-dir', dataDir)),
      peer: () => duration(() => run('-e', RAW, database)),
      rounds: 9,
    })
  },
}
