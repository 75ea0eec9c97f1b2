import { makeAccount, withService } from './account.ts'
import { requestTo, withConnections } from './connection.ts'
import { noEtcd, withEtcd } from './etcd.ts'
import type { Figure } from './figure.ts'
import { answering, freePort, withProgram } from './peers.ts'
import { noRedis, withRedis } from './redis.ts'
import { interleave, rate, share } from './rounds.ts'
import { noteOf, numbers } from './samples.ts'
import { seedNotes } from './seeds.ts'
import type { Workspace } from './workspace.ts'

// Rows pushed to this service, and the same rows stored as durably by programs that keep a log or keys.

interface Load {
  clients: number
  requests: number
  /** Rows a request. */
  rows: number
}

const BATCHES: Load = { clients: 4, requests: 100, rows: 100 }
const BATCHES_OF_ONE_CLIENT: Load = { ...BATCHES, clients: 1 }
const SINGLE_ROWS: Load = { clients: 1, requests: 500, rows: 1 }

const notesOf = ({ requests, rows }: Load) =>
  numbers(requests).map((request) => numbers(rows).map((row) => noteOf(request * rows + row)))

/** Runs `work` with a function that pushes all rows of a load once and returns rows/s. */
async function withPushing<T>(
  workspace: Workspace,
  load: Load,
  work: (push: () => Promise<number>) => Promise<T>,
): Promise<T> {
  const account = await makeAccount(workspace)
  return withService(workspace, account, ({ url }) =>
    withConnections(url, load.clients, (connections) => {
      const requests = notesOf(load).map((notes) => {
        const operations = notes.map((data) => ({ table: 'svc_notes', operation: 'INSERT', data }))
        const body = Buffer.from(JSON.stringify({ operations }))
        const path = '/api/sync/data.php?action=push'
        return requestTo(url, { method: 'POST', path, token: account.token, type: 'application/json', body })
      })
      return work(() =>
        rate(load.requests * load.rows, () =>
          share(connections, requests, async (connection, request) => {
            const { body } = await connection.ask(request)
            if (Buffer.concat(body).includes('"ok":false')) throw new Error('An operation was refused.')
          }),
        ),
      )
    }),
  )
}

/** Pushes of 100 rows by four clients, compared with Redis. */
export const pushRedis: Figure = {
  name: 'push-redis',
  unit: 'rows/s',
  peer: 'a stream of Redis, appendfsync always, four clients adding 100 entries at once',
  wanted: { least: 0.45 },
  missing: noRedis,
  measure: (workspace) =>
    withPushing(workspace, BATCHES, (push) =>
      withRedis(workspace, BATCHES.clients, (clients) => {
        const batches = notesOf(BATCHES).map((notes) =>
          notes.map((note) => ['XADD', 'notes', '*', 'note', JSON.stringify(note)]),
        )
        const add = () => share(clients, batches, (client, batch) => client.send(batch))
        return interleave({ ours: push, peer: () => rate(BATCHES.requests * BATCHES.rows, add), rounds: 5 })
      }),
    ),
}

const againstEtcd = (load: Load) => (workspace: Workspace) =>
  withPushing(workspace, load, (push) =>
    withEtcd(workspace, (store) => {
      const batches = notesOf(load).map((notes) => notes.map((note) => JSON.stringify(note)))
      const put = async (round: number) => {
        for (const [index, values] of batches.entries())
          await store(
            values.map((_, row) => `${round}/${index}/${row}`),
            values,
          )
      }
      return interleave({
        ours: push,
        peer: (round) => rate(load.requests * load.rows, () => put(round)),
        rounds: 5,
      })
    }),
  )

/** Pushes of 100 rows by one client, compared with etcd. */
export const pushEtcd: Figure = {
  name: 'push-etcd',
  unit: 'rows/s',
  peer: 'transactions of 100 keys in etcd, one client',
  wanted: { least: 1.6 },
  missing: noEtcd,
  measure: againstEtcd(BATCHES_OF_ONE_CLIENT),
}

/** Pushes of one row by one client, compared with etcd. */
export const pushOneEtcd: Figure = {
  name: 'push-one-etcd',
  unit: 'rows/s',
  peer: 'one key a transaction in etcd, one client',
  wanted: { least: 1.5 },
  missing: noEtcd,
  measure: againstEtcd(SINGLE_ROWS),
}

const againstNode = (clients: number) => async (workspace: Workspace) => {
  const load = { ...SINGLE_ROWS, clients }
  const [folder, port] = [workspace.folder('rows'), await freePort()]
  const url = `http://127.0.0.1:${port}`
  return withPushing(workspace, load, (push) =>
    withProgram(
      workspace,
      process.execPath,
      [process.argv[1]!, '--serve-rows', folder, '--port', `${port}`],
      async () => {
        await answering(url)
        return withConnections(url, clients, (connections) => {
          const requests = notesOf(load).map((notes) =>
            requestTo(url, { method: 'POST', path: '/', body: Buffer.from(JSON.stringify(notes)) }),
          )
          const store = () => share(connections, requests, (connection, request) => connection.ask(request))
          return interleave({ ours: push, peer: () => rate(load.requests, store), rounds: 5 })
        })
      },
    ),
  )
}

const oneNode = (name: string, clients: number): Figure => ({
  name,
  unit: 'rows/s',
  peer: `Node with SQLite alone, flushed, clients: ${clients}`,
  wanted: undefined,
  measure: againstNode(clients),
})

/** Pushes of one row, compared with what Node itself reaches. */
export const pushOneNode = oneNode('push-one-node', 1)
export const pushOneNodeEight = oneNode('push-one-node-eight', 8)

const ROWS = 50_000
const PAGE = 5_000

/** Reading the whole feed page by page, compared with Redis. */
export const deltaRedis: Figure = {
  name: 'delta-redis',
  unit: 'rows/s',
  peer: 'XRANGE of a stream of Redis, as many entries a page',
  wanted: { least: 0.8 },
  missing: noRedis,
  async measure(workspace) {
    const account = await makeAccount(workspace, (database, user) => seedNotes(database, user, ROWS))
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, ([connection]) =>
        withRedis(workspace, 1, async ([redis]) => {
          const pages = numbers(ROWS / PAGE)
          // Entries get IDs that can be computed, so that each page can be named.
          const entry = (row: number) => ['XADD', 'notes', `1-${row + 1}`, 'note', JSON.stringify(noteOf(row))]
          for (const page of pages) await redis!.send(numbers(PAGE).map((row) => entry(page * PAGE + row)))
          const requests = pages.map((page) => {
            const path = `/api/sync/data.php?action=delta&limit=${PAGE}&cursor=${page * PAGE}`
            return requestTo(url, { path, token: account.token })
          })
          const read = async () => {
            for (const page of pages)
              await redis!.send([['XRANGE', 'notes', `1-${page * PAGE + 1}`, '+', 'COUNT', String(PAGE)]])
          }
          const ask = async () => {
            for (const request of requests) await connection!.ask(request)
          }
          return interleave({ ours: () => rate(ROWS, ask), peer: () => rate(ROWS, read), rounds: 5 })
        }),
      ),
    )
  },
}
