import type { SqliteHandle } from '../../../../src/host/sqlite-engine.ts'
import { numbers, TEXT } from '../../../samples.ts'

/** Inserts people who never sign in, with the IDs after `first`. Returns these. */
export function addPeople(database: SqliteHandle, first: number, count: number): number[] {
  const person = database.prepare(`insert into users
    (id, username, display_name, avatar_color, role, password_hash, created_at, updated_at)
    values (?, ?, 'Person', '#336699', 'user', '-', 0, 0)`)
  const counter = database.prepare('insert into counters (user_id) values (?)')
  return numbers(count).map((number) => {
    const id = first + number
    person.run(id, `person-${id}`)
    counter.run(id)
    return id
  })
}

/** Inserts a room with messages of its creator; a large one if it has many members. Returns the IDs of the messages. */
export function addRoom(
  database: SqliteHandle,
  { id, creator, members, messages }: { id: number; creator: number; members: readonly number[]; messages: number },
): number[] {
  const isLarge = members.length > 32
  database
    .prepare(
      `insert into rooms (id, name, type, created_by, created_at, updated_at, stamp, feed_stamp)
        values (?, 'Room', 'channel', ?, 0, 0, ?, ?)`,
    )
    .run(id, creator, messages + 1, isLarge ? messages + 1 : null)
  const member = database.prepare(
    'insert into room_members (room_id, user_id, joined_at, feed_stamp) values (?, ?, 0, ?)',
  )
  for (const user of members) member.run(id, user, messages + 1)
  const message = database.prepare(
    'insert into messages (room_id, user_id, content, timestamp, folded) values (?, ?, ?, ?, ?) returning id',
  )
  return numbers(messages).map(
    (number) => (message.get(id, creator, `${TEXT} ${number}`, number + 1, `${number}`) as { id: number }).id,
  )
}
