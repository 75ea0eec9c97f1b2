import { makeAccount, withService } from './account.ts'
import type { Figure, Rounds } from './figure.ts'
import { startNode } from './start-up.ts'
import { duration, interleave } from './rounds.ts'
import { noteOf, sha256Of } from './samples.ts'
import { filesOf, seedFiles, type SeedFile } from './seeds.ts'
import { clientOf, writeFiles, type Summary } from './sync-client.ts'
import type { Workspace } from './workspace.ts'

const FILES = 10_000
const MOST_WORK = 2

/** A folder and an account with the same content. */
interface Pair {
  /** Runs `svc sync` again. */
  sync(): Summary
  /** Requests answered by the server so far. */
  requests(): number
}

const files = (): SeedFile[] =>
  filesOf(FILES).map((file, number) => {
    const data = Buffer.from(noteOf(number).content)
    return { ...file, data, size: data.length, sha256: sha256Of(data) }
  })

/** Synchronises a folder and an account with the same files, and passes them to `work`. */
async function withPair(workspace: Workspace, work: (pair: Pair) => Promise<Rounds>): Promise<Rounds> {
  const all = files()
  const account = await makeAccount(workspace, (database, user) => seedFiles(database, user, all))
  const folder = workspace.folder('sync')
  writeFiles(folder, all)
  return withService(workspace, account, (server) => {
    const client = clientOf(workspace, server, account)
    client.svc('sync', 'init', folder)
    return work({ sync: () => client.sync(folder), requests: client.requests })
  })
}

/** Work of a `svc sync` run without changes. */
export const noopWork: Figure = {
  name: 'noop-work',
  unit: 'requests + hashes',
  peer: `the limit for svc sync of ${FILES.toLocaleString('en')} unchanged files`,
  wanted: { most: 1 },
  measure: (workspace) =>
    withPair(workspace, async ({ sync, requests }) => {
      if (!sync().in_sync) throw new Error('The folder and the account differ.')
      const before = requests()
      const { hashed } = sync()
      return { ours: [requests() - before + hashed], peer: [MOST_WORK] }
    }),
}

/** Duration of such a run. */
export const noopSync: Figure = {
  name: 'noop-sync',
  unit: 'ms',
  peer: 'node -e 0',
  wanted: undefined,
  measure: (workspace) =>
    withPair(workspace, ({ sync }) =>
      interleave({
        ours: () => duration(sync),
        peer: () => duration(startNode),
        rounds: 9,
      }),
    ),
}
