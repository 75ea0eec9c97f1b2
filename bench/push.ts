import { join } from 'node:path'
import { makeAccount, withDatabase, withService } from './account.ts'
import { requestTo, withConnections } from './connection.ts'
import type { Figure } from './figure.ts'
import { interleave, rate, share } from './rounds.ts'
import { noteOf, numbers } from './samples.ts'

const REQUESTS = 100
const OPERATIONS = 100
const CONNECTIONS = 4

export const TABLE = `create table svc_notes (
  id integer primary key autoincrement, user_id integer not null, version integer not null default 1,
  created_at text not null, updated_at text not null,
  title text not null, content text, category text, pinned integer default 0, color text
) strict;
create index svc_notes_of_user on svc_notes (user_id)`

export const INSERT =
  'insert into svc_notes (user_id, version, created_at, updated_at, title, content, category, pinned, color) values (?, 1, ?, ?, ?, ?, ?, ?, ?)'

/** Writing rows: on each connection, a request or a transaction of the peer is durable before the next one. */
export const push: Figure = {
  name: 'push',
  unit: 'operations/s',
  peer: 'prepared INSERTs in transactions of 100',
  wanted: { least: 0.4 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const batches = numbers(REQUESTS).map((batch) => numbers(OPERATIONS).map((row) => noteOf(batch * OPERATIONS + row)))
    return withService(workspace, account, ({ url }) =>
      withConnections(url, CONNECTIONS, (connections) =>
        withDatabase(join(workspace.folder('push'), 'peer.db'), (database) => {
          database.exec(TABLE)
          const insert = database.prepare(INSERT)
          const insertAll = database.transaction((notes: ReturnType<typeof noteOf>[]) => {
            const now = new Date().toISOString()
            for (const { title, content, category, pinned, color } of notes) {
              insert.run(1, now, now, title, content, category, pinned ? 1 : 0, color)
            }
          })
          const requests = batches.map((notes) => {
            const operations = notes.map((data) => ({ table: 'svc_notes', operation: 'INSERT', data }))
            const body = Buffer.from(JSON.stringify({ operations }))
            const path = '/api/sync/data.php?action=push'
            return requestTo(url, { method: 'POST', path, token: account.token, type: 'application/json', body })
          })
          const send = async (connection: (typeof connections)[number], request: Buffer) => {
            const { body } = await connection.ask(request)
            if (Buffer.concat(body).includes('"ok":false')) throw new Error('An operation was refused.')
          }
          return interleave({
            ours: () => rate(REQUESTS * OPERATIONS, () => share(connections, requests, send)),
            peer: () => rate(REQUESTS * OPERATIONS, () => batches.forEach((notes) => insertAll.immediate(notes))),
            rounds: 9,
          })
        }),
      ),
    )
  },
}
