import { TEXT } from '../../../samples.ts'
import type { Scenario } from '../scenario.ts'
import { addPeople, addRoom } from './crowd.ts'

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
    database.transaction(() => {
      const people = addPeople(database, PEOPLE, size(10_000, 1_000))
      addRoom(database, { id: FULL, creator: user, members: [user, ...people], messages: 0 })
      addRoom(database, { id: LONG, creator: user, members: [user], messages: size(20_000, 2_000) })
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
