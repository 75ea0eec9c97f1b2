import { join } from 'node:path'
import { makeAccount, withService } from './account.ts'
import { requestTo, withConnections, type Connection } from './connection.ts'
import type { Figure, Wanted } from './figure.ts'
import { interleave } from './rounds.ts'
import { numbers } from './samples.ts'
import { CLIENTS, filesOfRound, sendAll, uploadsOf, type File } from './small-files.ts'
import { makeFolderForAll, noWebServer, withWebServer, type Program, type WebServer } from './web-server.ts'
import type { Workspace } from './workspace.ts'

// Small files and listings, compared with web servers that speak WebDAV. These store neither hashes nor versions, and flush nothing.

/** Creates a folder of a web server and returns the requests that fill it. */
function putsOf(files: readonly File[], { url, files: root }: WebServer, folder: string): Buffer[] {
  makeFolderForAll(join(root, folder))
  return files.map(({ name, data }) => requestTo(url, { method: 'PUT', path: `/${folder}/${name}`, body: data }))
}

interface Both {
  token: string
  /** Where svc answers, and connections to it. */
  own: { url: string }
  ours: Connection[]
  server: WebServer
  theirs: Connection[]
}

/** Runs `work` with as many connections to svc as to a web server. */
async function withBoth<T>(
  workspace: Workspace,
  { program, clients }: { program: Program; clients: number },
  work: (both: Both) => Promise<T>,
): Promise<T> {
  const account = await makeAccount(workspace)
  return withService(workspace, account, (own) =>
    withWebServer(workspace, program, (server) =>
      withConnections(own.url, clients, (ours) =>
        withConnections(server.url, clients, (theirs) => work({ token: account.token, own, ours, server, theirs })),
      ),
    ),
  )
}

const againstPut = (program: Program) => (workspace: Workspace) =>
  withBoth(workspace, { program, clients: CLIENTS }, ({ token, own, ours, server, theirs }) =>
    interleave({
      ours: (round) => sendAll(ours, uploadsOf(filesOfRound(round), own.url, token, `round-${round}`)),
      peer: (round) => sendAll(theirs, putsOf(filesOfRound(round), server, `round-${round}`)),
      rounds: 5,
    }),
  )

/** Stores the same files in a folder of both. */
async function store(files: readonly File[], { token, own, ours, server, theirs }: Both): Promise<void> {
  await sendAll(ours, uploadsOf(files, own.url, token, 'small'))
  await sendAll(theirs, putsOf(files, server, 'small'))
}

const againstGet = (program: Program) => (workspace: Workspace) =>
  withBoth(workspace, { program, clients: CLIENTS }, async (both) => {
    const { token, own, ours, server, theirs } = both
    const files = filesOfRound(0)
    await store(files, both)
    const downloads = files.map(({ name }) =>
      requestTo(own.url, { path: `/api/sync/files.php?action=download&path=/small/${name}`, token }),
    )
    const gets = files.map(({ name }) => requestTo(server.url, { path: `/small/${name}` }))
    return interleave({ ours: () => sendAll(ours, downloads), peer: () => sendAll(theirs, gets), rounds: 5 })
  })

const ENTRIES = 50

/** Requests a round, one after the other. */
const LISTINGS = 500

const againstList = (program: Program) => (workspace: Workspace) =>
  withBoth(workspace, { program, clients: 1 }, async (both) => {
    const { token, own, ours, server, theirs } = both
    await store(filesOfRound(0).slice(0, ENTRIES), both)
    const list = requestTo(own.url, { path: '/api/filesystem.php?action=list&path=/small', token })
    const index = requestTo(server.url, { path: '/small/' })
    const asked = (request: Buffer) => numbers(LISTINGS).map(() => request)
    return interleave({
      ours: () => sendAll(ours, asked(list)),
      peer: () => sendAll(theirs, asked(index)),
      rounds: 5,
    })
  })

const put = (program: Program, wanted?: Wanted): Figure => ({
  name: `put-${program}`,
  unit: 'files/s',
  peer: `PUT to ${program}, ${CLIENTS} clients, without flush or hash`,
  wanted,
  missing: noWebServer(program),
  measure: againstPut(program),
})

const get = (program: Program, wanted?: Wanted): Figure => ({
  name: `get-${program}`,
  unit: 'files/s',
  peer: `GET from ${program}, ${CLIENTS} clients`,
  wanted,
  missing: noWebServer(program),
  measure: againstGet(program),
})

const list = (program: Program, wanted?: Wanted): Figure => ({
  name: `list-${program}`,
  unit: 'listings/s',
  peer: `index of ${ENTRIES} files of ${program} as JSON, one client`,
  wanted,
  missing: noWebServer(program),
  measure: againstList(program),
})

/** Uploads, downloads and listings of small files, compared with nginx, with Apache, and with what Node itself reaches. */
export const webPeers: readonly Figure[] = [
  put('nginx', { least: 0.6 }),
  put('apache2', { least: 1 }),
  put('node'),
  get('nginx', { least: 0.7 }),
  get('apache2', { least: 1 }),
  get('node'),
  list('nginx', { least: 0.8 }),
  list('node'),
]
