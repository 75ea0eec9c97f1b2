import type { Scenario } from '../scenario.ts'
import { addPeople, addRoom } from './crowd.ts'

/** A room of all people that is deleted, one that they leave and join, and one that the attacker leaves. */
const [DELETED, LEFT, OWN] = [910_001, 910_002, 910_003]
/** ID of the first person. */
const PEOPLE = 2_000_000
/** Messages of the deleted room in the feed of each person. */
const ENTERED = 3
/** People who are invited again at once. */
const RETURNING = 50

/** Takes people out of a room of thousands and back in, leaves one with many messages, and deletes another one of thousands. */
export const roomRemoval: Scenario = {
  name: 'room-removal',
  seed(database, user, size) {
    const entry = database.prepare(
      'insert into changes (user_id, tbl, row_id, seq, born, deleted, changed_at) values (?, ?, ?, ?, ?, 0, 0)',
    )
    const head = database.prepare('update counters set seq = ? where user_id = ?')
    const enter = (account: number, rooms: readonly number[], messages: readonly number[]) => {
      let seq = 0
      for (const room of rooms) entry.run(account, 'svc_rooms', room, ++seq, seq)
      for (const message of messages) entry.run(account, 'svc_messages', message, ++seq, seq)
      head.run(seq, account)
    }
    database.transaction(() => {
      const messages = size(20_000, 1_000)
      const [one, ...people] = addPeople(database, PEOPLE, size(10_000, 500)) as [number, ...number[]]
      const members = [user, one, ...people]
      const ofDeleted = addRoom(database, { id: DELETED, creator: user, members, messages })
      addRoom(database, { id: LEFT, creator: user, members, messages: 0 })
      const ofOwn = addRoom(database, { id: OWN, creator: user, members: [user, one], messages })
      for (const person of people) enter(person, [DELETED, LEFT], ofDeleted.slice(0, ENTERED))
      enter(one, [DELETED, LEFT, OWN], [...ofDeleted.slice(0, ENTERED), ...ofOwn])
      enter(user, [DELETED, LEFT, OWN], [...ofDeleted, ...ofOwn])
    })()
  },
  async run({ ask, repeat, size }) {
    const post = (action: string, fields: object) =>
      ask({ path: `/api/team-chat.php?action=${action}`, body: JSON.stringify(fields) })
    const people = size(10_000, 500)
    await Promise.all([
      post('leave', { room_id: OWN }),
      post('delete_room', { room_id: DELETED }),
      repeat({ atOnce: 8, most: size(2_000, 100) }, (number) => {
        const user_ids = Array.from({ length: RETURNING }, (_, index) => PEOPLE + ((number + people - index) % people))
        return number % RETURNING === 0
          ? post('invite', { room_id: LEFT, user_ids })
          : post('remove_participant', { room_id: LEFT, user_id: PEOPLE + (number % people) })
      }),
    ])
  },
  // Whoever was not invited again yet is no member.
  allowed: /^(200|404 not_found|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
