import { makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { noRclone, withWebDav } from './peers.ts'
import { duration, interleave } from './rounds.ts'
import { noteOf, sha256Of } from './samples.ts'
import { filesOf, seedFiles, type SeedFile } from './seeds.ts'
import { clientOf, writeFiles, type Client } from './sync-client.ts'
import type { Workspace } from './workspace.ts'

// A hundred thousand files on both sides.

const FILES = 100_000
const MOST_MIB = 300

const files = (): SeedFile[] =>
  filesOf(FILES).map((file, number) => {
    const data = Buffer.from(noteOf(number).content)
    return { ...file, data, size: data.length, sha256: sha256Of(data) }
  })

/** Prepares a folder and an account with the same content, not yet synchronised. */
async function withMany<T>(workspace: Workspace, work: (client: Client, folder: string) => Promise<T>): Promise<T> {
  const all = files()
  const account = await makeAccount(workspace, (database, user) => seedFiles(database, user, all))
  const folder = workspace.folder('sync')
  writeFiles(folder, all)
  return withService(workspace, account, (server) => {
    const client = clientOf(workspace, server, account)
    client.svc('sync', 'init', folder)
    return work(client, folder)
  })
}

/** A run without changes. */
export const syncNoopMany: Figure = {
  name: 'sync-noop-many',
  unit: 'ms',
  peer: `rclone sync to nginx (WebDAV), of ${FILES.toLocaleString('en')} files`,
  wanted: { most: 1 },
  missing: noRclone,
  measure: (workspace) =>
    withMany(workspace, (client, folder) => {
      client.sync(folder)
      return withWebDav(workspace, ({ up, place }) => {
        // Uploading the files with rclone would take an hour.
        place(folder)
        return interleave({
          ours: () => duration(() => client.sync(folder)),
          peer: () => duration(() => up(folder, 'up')),
          rounds: 3,
        })
      })
    }),
}

/** Peak memory of the first run and of one without changes. */
export const syncMemory: Figure = {
  name: 'sync-memory',
  unit: 'MiB',
  peer: `the limit for svc sync of ${FILES.toLocaleString('en')} files`,
  wanted: { most: 1 },
  measure: (workspace) =>
    withMany(workspace, async (client, folder) => {
      const first = await client.syncMeasured(folder)
      if (!first.summary.in_sync) throw new Error('The folder and the account differ.')
      const second = await client.syncMeasured(folder)
      return {
        ours: [Math.max(first.mib, second.mib)],
        peer: [MOST_MIB],
        note: `the first run ${Math.round(first.mib)} MiB, one that finds nothing to do ${Math.round(second.mib)} MiB`,
      }
    }),
}
