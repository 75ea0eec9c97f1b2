import { numbers, TEXT } from '../../../samples.ts'
import type { Scenario } from '../scenario.ts'

/** People that one request may invite. */
const INVITED = 200
/** A room of all people, and one of the attacker with many messages. */
const [FULL, LONG] = [900_001, 900_002]
/** ID of the first person. */
const PEOPLE = 1_000_000

/** Sends to a room of thousands and invites them to another one with many messages. */
export const largeRoom: Scenario = {
  name: 'large-room',
  seed(database, user, size) {
    const person = database.prepare(`insert into users
      (id, username, display_name, avatar_color, role, password_hash, created_at, updated_at)
      values (?, ?, 'Person', '#336699', 'user', '-', 0, 0)`)
    const counter = database.prepare('insert into counters (user_id) values (?)')
    const member = database.prepare(
      'insert into room_members (room_id, user_id, joined_at, feed_stamp) values (?, ?, 0, ?)',
    )
    const room = database.prepare(
      "insert into rooms (id, name, type, created_by, created_at, updated_at, stamp, feed_stamp) values (?, ?, 'channel', ?, 0, 0, ?, ?)",
    )
    const message = database.prepare(
      'insert into messages (room_id, user_id, content, timestamp, folded) values (?, ?, ?, ?, ?)',
    )
    const many = size(20_000, 2_000)
    database.transaction(() => {
      room.run(FULL, 'Everybody', user, 1, 1)
      room.run(LONG, 'Long', user, many, null)
      for (const which of [FULL, LONG]) member.run(which, user, 0)
      for (const number of numbers(size(10_000, 1_000))) {
        person.run(PEOPLE + number, `person-${number}`)
        counter.run(PEOPLE + number)
        member.run(FULL, PEOPLE + number, 1)
      }
      for (const number of numbers(many)) message.run(LONG, user, `${TEXT} ${number}`, number + 1, `${number}`)
    })()
  },
  run: ({ ask, repeat, size }) =>
    repeat({ atOnce: 8, most: size(400, 60) }, (number) => {
      const invited = Array.from({ length: INVITED }, (_, index) => PEOPLE + ((number * INVITED + index) % 1_000))
      return number % 4 === 0
        ? ask({ path: '/api/team-chat.php?action=invite', body: JSON.stringify({ room_id: LONG, user_ids: invited }) })
        : ask({
            path: '/api/team-chat.php?action=send',
            body: JSON.stringify({ room_id: FULL, content: `@everybody ${TEXT}` }),
          })
    }),
  allowed: /^(200|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
