import { makeAccount, withDatabase, withService } from './account.ts'
import { requestTo, withConnections, type Connection } from './connection.ts'
import type { Figure } from './figure.ts'
import { interleave, rate, share } from './rounds.ts'
import { numbers, TEXT } from './samples.ts'

const MESSAGES = 2_000
const POLLS = 5_000
const CONNECTIONS = 16

/** Path of a chat action. */
export const pathOf = (action: string, query = '') => `/api/team-chat.php?action=${action}${query}`

/** The response to a request, as an object. */
export async function answerOf(connection: Connection, request: Buffer): Promise<Record<string, unknown>> {
  const { body } = await connection.ask(request)
  return JSON.parse(Buffer.concat(body).toString()) as Record<string, unknown>
}

/** Opens a room with other users. */
export async function openRoom(
  url: string,
  token: string,
  connection: Connection,
  participants: readonly number[] = [],
): Promise<number> {
  const body = Buffer.from(JSON.stringify({ name: 'Engines', type: 'channel', participants }))
  const request = requestTo(url, { method: 'POST', path: pathOf('create_room'), token, type: 'application/json', body })
  const { room } = (await answerOf(connection, request)) as { room: { room_id: number } }
  return room.room_id
}

/** Posting messages; the peer writes the rows of as many messages, one per connection in each commit. */
export const chatSend: Figure = {
  name: 'chat-send',
  unit: 'messages/s',
  peer: 'the writes of a message alone, as durable',
  wanted: { least: 0.4 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const other = await makeAccount(workspace, (database, user) =>
      database.exec(
        `insert into rooms (name, type, created_by, created_at, updated_at) values ('', 'channel', ${user}, 0, 0);
         insert into room_members (room_id, user_id, joined_at) values (1, ${user}, 0)`,
      ),
    )
    return withService(workspace, account, ({ url }) =>
      withConnections(url, CONNECTIONS, (connections) =>
        withDatabase(other.database, async (database) => {
          const room_id = await openRoom(url, account.token, connections[0]!)
          const body = Buffer.from(JSON.stringify({ room_id, content: TEXT }))
          const sent = {
            method: 'POST',
            path: pathOf('send'),
            token: account.token,
            type: 'application/json',
            body,
          } as const
          const request = requestTo(url, sent)
          const insertAll = inserter(database, other.user)
          return interleave({
            ours: () =>
              rate(MESSAGES, () => share(connections, numbers(MESSAGES), (connection) => connection.ask(request))),
            peer: () => rate(MESSAGES, insertAll),
            rounds: 7,
          })
        }),
      ),
    )
  },
}

/**
 * Performs only the writes of a message: the room's clock, the row, the feeds of its members, and the author's presence
 * and read position.
 */
function inserter(database: Parameters<Parameters<typeof withDatabase>[1]>[0], user: number): () => void {
  const enter = database.prepare('update rooms set stamp = ? where id = 1')
  const message = database.prepare(
    'insert into messages (room_id, user_id, content, timestamp, folded) values (1, ?, ?, ?, ?)',
  )
  const heads = database.prepare(
    'update counters set seq = seq + 1 where user_id in (select user_id from room_members where room_id = 1)',
  )
  const changes = database.prepare(
    `insert into changes select c.user_id, 'svc_messages', ?, c.seq, c.seq, 0, ?
       from room_members m join counters c on c.user_id = m.user_id where m.room_id = 1`,
  )
  const spoke = database.prepare(
    'update room_members set read_at = ?, last_active = ?, typing_until = 0 where room_id = 1 and user_id = ?',
  )
  const touch = database.prepare('update users set last_active = ? where id = ?')
  let time = 0
  const group = database.transaction(() => {
    for (let count = 0; count < CONNECTIONS; count++) {
      enter.run(++time)
      const { lastInsertRowid } = message.run(user, TEXT, time, TEXT.toLowerCase())
      heads.run()
      changes.run(lastInsertRowid, time)
      spoke.run(time, time, user)
      touch.run(time, user)
    }
  })
  return () => {
    for (let done = 0; done < MESSAGES; done += CONNECTIONS) group()
  }
}

/** Polling a room without new messages. */
export const chatPoll: Figure = {
  name: 'chat-poll',
  unit: 'requests/s',
  peer: '`ping` of the same server',
  wanted: { least: 0.5 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const { token } = account
    return withService(workspace, account, ({ url }) =>
      withConnections(url, CONNECTIONS, async (connections) => {
        const room = await openRoom(url, token, connections[0]!)
        const poll = (after: string) =>
          requestTo(url, { path: pathOf('poll', `&room_id=${room}&after=${after}`), token })
        const { timestamp } = await answerOf(connections[0]!, poll('2026-01-01T00:00:00.000Z'))
        const quiet = poll(String(timestamp))
        const ping = requestTo(url, { path: '/api/sync/status.php?action=ping' })
        const run = (request: Buffer) =>
          rate(POLLS, () => share(connections, numbers(POLLS), (connection) => connection.ask(request)))
        return interleave({ ours: () => run(quiet), peer: () => run(ping), rounds: 7 })
      }),
    )
  },
}
