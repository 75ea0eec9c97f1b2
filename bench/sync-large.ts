import { makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { hash, makeFile, mark, SIZE } from './large-file.ts'
import { noUnison, unisonOf } from './peers.ts'
import { interleave, rate } from './rounds.ts'
import { clientOf } from './sync-client.ts'
import type { Workspace } from './workspace.ts'
import { dirname } from 'node:path'

// One large file, sent by the command that people run: from its start to the service's answer that all of it is durable.

const figure =
  (peer: (workspace: Workspace, file: string) => (round: number) => Promise<number>): Figure['measure'] =>
  async (workspace) => {
    const account = await makeAccount(workspace)
    const file = await makeFile(workspace)
    const folder = dirname(file)
    const other = peer(workspace, file)
    return withService(workspace, account, (server) => {
      const client = clientOf(workspace, server, account)
      client.svc('sync', 'init', folder)
      return interleave({
        async ours(round) {
          await mark(file, 2 * round)
          return rate(SIZE, () => client.sync(folder))
        },
        peer: (round) => other(2 * round + 1),
        rounds: 3,
      })
    })
  }

export const syncLarge: Figure = {
  name: 'sync-large',
  unit: 'MiB/s',
  peer: 'one SHA-256 pass over the file',
  wanted: { least: 0.8 },
  measure: figure((_, file) => () => rate(SIZE, () => hash(file))),
}

export const syncLargeUnison: Figure = {
  name: 'sync-large-unison',
  unit: 'MiB/s',
  peer: 'unison on two folders of one machine, which flushes nothing',
  wanted: { least: 1 },
  missing: noUnison,
  measure: figure((workspace) => {
    const unison = unisonOf(workspace)
    const other = workspace.folder('other')
    let own: Promise<string> | undefined
    return async (round) => {
      own ??= makeFile(workspace)
      const file = await own
      await mark(file, round)
      return rate(SIZE, () => unison(dirname(file), other))
    }
  }),
}
