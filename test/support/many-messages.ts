import { insertMessage } from '../../src/storage/chat/messages.ts'
import { beginRoom } from '../../src/storage/chat/room-feed.ts'
import { takeRoom } from '../../src/storage/chat/rooms.ts'
import type { Database } from '../../src/storage/engine/database.ts'

/** Inserts many messages into a room directly: posting each would take minutes. */
export const sayMany = (
  database: Database,
  { room, user, count, now }: { room: number; user: number; count: number; now: number },
): Promise<void> =>
  database.write('instance', async (tx) => {
    const { stamp } = (await takeRoom(tx, room, now))!
    const row = { room_id: room, user_id: user, reply_to: null, is_assistant: 0, spoken_by: null }
    for (let number = 1; number <= count; number += 1) {
      const said = { content: `Thought ${number}`, folded: `THOUGHT ${number}`, client_id: `thought-${number}` }
      await insertMessage(tx, { ...row, ...said, timestamp: stamp + number })
    }
    await tx.q
      .updateTable('rooms')
      .set({ stamp: stamp + count })
      .where('id', '=', room)
      .execute()
    await beginRoom(tx, { room }, now)
  })
