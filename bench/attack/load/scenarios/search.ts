import { numbers, TEXT } from '../../../samples.ts'
import type { Scenario } from '../scenario.ts'

/** Searches without matches in many messages. */
export const search: Scenario = {
  name: 'search',
  seed(database, user, size) {
    const { lastInsertRowid: room } = database
      .prepare("insert into rooms (name, type, created_by, created_at, updated_at) values ('', 'channel', ?, 0, 0)")
      .run(user)
    database.prepare('insert into room_members (room_id, user_id, joined_at) values (?, ?, 0)').run(room, user)
    const message = database.prepare(
      'insert into messages (room_id, user_id, content, timestamp, folded) values (?, ?, ?, ?, ?)',
    )
    database.transaction(() => {
      for (const number of numbers(size(200_000, 10_000)))
        message.run(room, user, `${TEXT} ${number}`, number + 1, `${TEXT} ${number}`.toLowerCase())
    })()
  },
  run: ({ ask, repeat, size }) =>
    repeat({ atOnce: 8, most: size(200, 60) }, (number) =>
      ask({ path: `/api/team-chat.php?action=search&query=${'zebra'.repeat(1 + (number % 40))}` }),
    ),
  allowed: /^(200|429 rate_limited|503 busy)$/,
  reached: /^200$/,
}
