import { createHash } from 'node:crypto'
import { tables } from '../../src/contract/tables.ts'
import type { SqliteHandle } from '../../src/host/sqlite-engine.ts'
import type { Attacker, State } from './target.ts'

/** Columns that change as a side effect: times of last use, and derived values. */
const restless = new Set([
  'last_active',
  'last_login_at',
  'last_used_at',
  'last_ip',
  'read_at',
  'typing_until',
  'stamp',
])

/** Tables with data of an account, which only it may change. */
const owned = [
  ...Object.keys(tables),
  'nodes',
  'versions',
  'trash',
  'components',
  'component_profiles',
  'backup_codes',
].map((table) => `select * from ${table} where user_id = :user order by id`)

const belongings = [
  'select * from users where id = :user',
  ...owned,
  'select id, device_id, device_name from device_tokens where user_id = :user order by id',
  'select id, user_agent from sessions where user_id = :user order by id',
  'select secret, pending_secret from second_factors where user_id = :user',
  'select id, content, edited_at from messages where user_id = :user order by id',
  'select * from apps where created_by = :user order by id',
]

const ofRooms = [
  'select r.* from rooms r join room_members m on m.room_id = r.id where m.user_id = :user order by r.id',
  'select m.* from room_members m join room_members o on o.room_id = m.room_id where o.user_id = :user order by m.room_id, m.user_id',
  'select x.message_id, x.user_id, x.emoji from reactions x where x.user_id = :user order by x.message_id, x.emoji',
]

const ofPrivateRoom = [
  'select * from rooms where id = :room',
  'select * from room_members where room_id = :room order by user_id',
  'select * from messages where room_id = :room order by id',
  'select * from nodes where room_id = :room order by id',
]

/** Reads the data of an attacker and of another user directly from the database. */
export function watcher(database: SqliteHandle, other: number, room: number): (attacker: Attacker) => State {
  const reader = (queries: string[]) => {
    const statements = queries.map((query) => database.prepare(query))
    return (values: object): string => {
      const hash = createHash('sha256')
      for (const statement of statements)
        for (const row of statement.all(values))
          hash.update(
            JSON.stringify(row, (key, value: unknown) =>
              restless.has(key) ? undefined : typeof value === 'bigint' ? String(value) : value,
            ),
          )
      return hash.digest('hex')
    }
  }
  const own = reader([...belongings, ...ofRooms])
  const belongingsOf = reader(belongings)
  const privateRoom = reader(ofPrivateRoom)
  return ({ id }: Attacker) => ({
    own: own({ user: id }),
    other: belongingsOf({ user: other }) + privateRoom({ room }),
  })
}
