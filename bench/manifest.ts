import { makeAccount, withDatabase, withService, type Account } from './account.ts'
import { requestTo, withConnections, type Connection } from './connection.ts'
import type { Figure } from './figure.ts'
import { forgetPeak, residentMib } from './resident.ts'
import { interleave, rate, share } from './rounds.ts'
import { filesOf, seedFiles } from './seeds.ts'
import type { Workspace } from './workspace.ts'

const FILES = 100_000
const MANIFESTS = 10
const MOST_MIB = 150

const SELECT = "select parent_id, name, size, sha256, mtime from nodes where user_id = ? and type = 'file'"

const accountWithFiles = (workspace: Workspace): Promise<Account> => {
  const files = filesOf(FILES)
  return makeAccount(workspace, (database, user) => seedFiles(database, user, files))
}

const requestFor = (url: string, { token }: Account) =>
  requestTo(url, { path: '/api/sync/files.php?action=manifest', token })

/** Requests the manifest and checks that it contains every file. */
async function checkedManifest(connection: Connection, request: Buffer): Promise<void> {
  const { body } = await connection.ask(request)
  const { files } = JSON.parse(Buffer.concat(body).toString()) as { files: unknown[] }
  if (files.length !== FILES) throw new Error(`The manifest names ${files.length} files.`)
}

/** The list of all files with their paths. */
export const manifest: Figure = {
  name: 'manifest',
  unit: 'files/s',
  peer: 'SELECT and JSON.stringify, without paths or HTTP',
  wanted: { least: 0.5 },
  async measure(workspace) {
    const account = await accountWithFiles(workspace)
    return withService(workspace, account, ({ url }) =>
      withConnections(url, 1, async ([connection]) => {
        const request = requestFor(url, account)
        await checkedManifest(connection!, request)
        return withDatabase(account.database, (database) => {
          const select = database.prepare(SELECT)
          return interleave({
            ours: () => rate(FILES, () => connection!.ask(request)),
            peer: () => rate(FILES, () => JSON.stringify(select.all(account.user))),
            rounds: 9,
          })
        })
      }),
    )
  },
}

/** Peak memory of a new server for ten manifests, `atOnce` of them at a time. */
const memoryFigure = (name: string, atOnce: number, how: string): Figure => ({
  name,
  unit: 'MiB',
  peer: `the limit for ${MANIFESTS} manifests of ${FILES.toLocaleString('en')} files, ${how}`,
  wanted: { most: 1 },
  async measure(workspace) {
    const account = await accountWithFiles(workspace)
    return withService(workspace, account, ({ url, pid }) =>
      withConnections(url, atOnce, async (connections) => {
        await connections[0]!.ask(requestTo(url, { path: '/api/sync/status.php?action=info', token: account.token }))
        const before = residentMib(pid, 'VmRSS')
        forgetPeak(pid)
        const requests = Array.from({ length: MANIFESTS }, () => requestFor(url, account))
        await share(connections, requests, (connection, request) => connection.ask(request))
        return { ours: [residentMib(pid, 'VmHWM') - before], peer: [MOST_MIB] }
      }),
    )
  },
})

export const memory = memoryFigure('memory', 1, 'one after the other')

export const memoryAtOnce = memoryFigure('memory-at-once', MANIFESTS, 'all at once')
