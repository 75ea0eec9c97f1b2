import { makeAccount, withService } from './account.ts'
import { requestTo, withConnections, type Connection } from './connection.ts'
import type { Figure } from './figure.ts'
import { duration } from './rounds.ts'
import { bytesOf, noteOf, numbers } from './samples.ts'
import type { Workspace } from './workspace.ts'

// Whether readers wait for the flushes of writers. On a fast disk there is little to wait for: use --slower-flush 5.

const WRITERS = 8
const REQUESTS = 500
const ROUNDS = 5
const FILE = '/calm.bin'
/** Ratio at which a reader still counts as undisturbed. */
const MOST = 3

/** The 99th percentile of response times on one connection, ms. */
async function p99(connection: Connection, request: Buffer): Promise<number> {
  const times: number[] = []
  for (const _ of numbers(REQUESTS)) times.push(await duration(() => connection.ask(request)))
  return times.toSorted((a, b) => a - b)[Math.floor(REQUESTS * 0.99)]!
}

/** Pushes rows on all connections without pause while `work` runs. */
async function whilePushing<T>(
  connections: readonly Connection[],
  push: (number: number) => Buffer,
  work: () => Promise<T>,
): Promise<T> {
  let isDone = false
  const writing = connections.map(async (connection) => {
    for (let number = 0; !isDone; number++) await connection.ask(push(number))
  })
  try {
    return await work()
  } finally {
    isDone = true
    await Promise.all(writing)
  }
}

const against =
  (path: string, hasToken: boolean) =>
  async (workspace: Workspace): Promise<{ ours: number[]; peer: number[] }> => {
    const account = await makeAccount(workspace)
    const { token } = account
    return withService(workspace, account, ({ url }) =>
      withConnections(url, WRITERS + 1, async ([reader, ...writers]) => {
        const upload = `/api/sync/files.php?action=upload&path=${FILE}`
        await reader!.ask(requestTo(url, { method: 'POST', path: upload, token, body: bytesOf(1, 4_096) }))
        const request = requestTo(url, hasToken ? { path, token } : { path })
        const push = (number: number) => {
          const operations = [{ table: 'svc_notes', operation: 'INSERT', data: noteOf(number) }]
          const body = Buffer.from(JSON.stringify({ operations }))
          const action = '/api/sync/data.php?action=push'
          return requestTo(url, { method: 'POST', path: action, token, type: 'application/json', body })
        }
        const busy = () => whilePushing(writers, push, () => p99(reader!, request))
        const idle = () => p99(reader!, request)
        await idle()
        await busy()
        const rounds = { ours: [] as number[], peer: [] as number[] }
        for (const _ of numbers(ROUNDS)) {
          rounds.peer.push(await idle())
          rounds.ours.push(await busy())
        }
        return rounds
      }),
    )
  }

/** Response time of `ping` while others write without pause. */
export const calmPing: Figure = {
  name: 'calm-ping',
  unit: 'ms (99th percentile)',
  peer: `the same without the ${WRITERS} clients that push without pause`,
  wanted: { most: MOST },
  measure: against('/api/sync/status.php?action=ping', false),
}

/** Response time of the download of a small file while others write without pause. */
export const calmGet: Figure = {
  name: 'calm-get',
  unit: 'ms (99th percentile)',
  peer: `the same without the ${WRITERS} clients that push without pause`,
  wanted: { most: MOST },
  measure: against(`/api/sync/files.php?action=download&path=${FILE}`, true),
}
