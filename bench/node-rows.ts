import { fdatasync, openSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { openEngine } from '../src/host/sqlite-engine.ts'
import { serveUntilEnded } from './until-ended.ts'

/**
 * What Node itself reaches with rows in SQLite that are flushed before the response: no accounts, checks, quotas or search. A row is entered
 * in a feed, and requests that wait for a flush share the next one.
 */
export async function serveRows(folder: string, port: number): Promise<void> {
  const file = join(folder, 'rows.db')
  const database = openEngine(file, 1_000)
  database.pragma('synchronous = NORMAL')
  database.exec(`create table rows (id integer primary key autoincrement, user_id integer not null, data text) strict;
    create table changes (user_id integer, row_id integer, seq integer, primary key (user_id, row_id)) strict, without rowid`)
  const log = openSync(`${file}-wal`, 'r+')
  const [begin, commit] = [database.prepare('begin immediate'), database.prepare('commit')]
  const insert = database.prepare('insert into rows (user_id, data) values (1, ?)')
  const record = database.prepare('insert into changes (user_id, row_id, seq) values (1, ?, ?)')
  let waiting: { data: string; response: ServerResponse }[] = []
  let isFlushing = false

  function store(): void {
    const group = waiting
    waiting = []
    isFlushing = group.length > 0
    if (!isFlushing) return
    begin.run()
    for (const { data } of group) {
      const { lastInsertRowid: id } = insert.run(data)
      record.run(id, id)
    }
    commit.run()
    fdatasync(log, (error) => {
      if (error) throw error
      for (const { response } of group) response.setHeader('content-type', 'application/json').end('{"ok":true}')
      store()
    })
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const data = JSON.stringify(JSON.parse(await text(request)))
    waiting.push({ data, response })
    if (!isFlushing) store()
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end())
  })
  await serveUntilEnded(server, port)
}
