import { dirname, join } from 'node:path'
import { makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { hash, makeFile, mark, SIZE } from './large-file.ts'
import { interleave, rate } from './rounds.ts'
import { noSsh, withSsh, type Ssh } from './ssh-peers.ts'
import { clientOf } from './sync-client.ts'
import type { Workspace } from './workspace.ts'

// One large file, sent by the command that people run: from its start to the service's answer that all of it is durable.

/** Ours and the peer in turn; both change the file a little before, and neither knows the other's. */
async function against(
  workspace: Workspace,
  peer: (workspace: Workspace, file: string) => (round: number) => Promise<number>,
) {
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
  measure: (workspace) => against(workspace, (_, file) => () => rate(SIZE, () => hash(file))),
}

const overSsh = (
  program: 'unison' | 'rclone',
  send: (ssh: Ssh, workspace: Workspace) => (folder: string, there: string) => void,
): Figure => ({
  name: `sync-large-${program}`,
  unit: 'MiB/s',
  peer: `${program === 'rclone' ? 'rclone over SFTP' : 'unison over SSH'} on this machine, which flushes nothing`,
  wanted: { least: 1 },
  missing: noSsh(program),
  measure: (workspace) =>
    withSsh(workspace, (ssh) =>
      against(workspace, () => {
        const there = join(workspace.folder('there'), 'files')
        const sendOnce = send(ssh, workspace)
        let own: Promise<string> | undefined
        return async (round) => {
          own ??= makeFile(workspace)
          const file = await own
          await mark(file, round)
          return rate(SIZE, () => sendOnce(dirname(file), there))
        }
      }),
    ),
})

export const syncLargeUnison = overSsh('unison', (ssh, workspace) => {
  const memory = workspace.folder('unison')
  return (folder, there) => ssh.unison(folder, there, memory)
})

export const syncLargeRclone = overSsh('rclone', (ssh) => ssh.rcloneUp)
