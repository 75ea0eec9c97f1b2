import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { hash, makeFile, mark, SIZE } from './large-file.ts'
import { interleave, rate } from './rounds.ts'
import { noSsh, withSsh, type Ssh } from './ssh-peers.ts'
import { clientOf } from './sync-client.ts'
import type { Workspace } from './workspace.ts'

// Upload of one large file with the command: from its start to the durable response.

/** Alternates between ours and the peer, each time with new content and a new account. */
async function against(workspace: Workspace, peer: (file: string) => Promise<number>) {
  const file = await makeFile(workspace)
  return interleave({
    async ours(round) {
      await mark(file, 2 * round)
      const account = await makeAccount(workspace)
      return withService(workspace, account, (server) => {
        const client = clientOf(workspace, server, account)
        client.svc('sync', 'init', dirname(file))
        return rate(SIZE, () => client.sync(dirname(file))).finally(() => forget(dirname(file)))
      })
    },
    async peer(round) {
      await mark(file, 2 * round + 1)
      return peer(file)
    },
    rounds: 3,
  })
}

/** Removes the sync state of a folder. */
const forget = (folder: string): void => rmSync(join(folder, '.svc'), { recursive: true })

export const syncLarge: Figure = {
  name: 'sync-large',
  unit: 'MiB/s',
  peer: 'one SHA-256 pass over the file',
  wanted: { least: 0.8 },
  measure: (workspace) => against(workspace, (file) => rate(SIZE, () => hash(file))),
}

const overSsh = (
  program: 'unison' | 'rclone',
  send: (ssh: Ssh, folder: string, there: string, memory: string) => void,
): Figure => ({
  name: `sync-large-${program}`,
  unit: 'MiB/s',
  peer: `${program === 'rclone' ? 'rclone over SFTP' : 'unison over SSH'} on this machine, which flushes nothing`,
  wanted: { least: 1 },
  missing: noSsh(program),
  measure: (workspace) =>
    withSsh(workspace, (ssh) =>
      against(workspace, async (file) => {
        const [there, memory] = [join(workspace.folder('there'), 'files'), workspace.folder('memory')]
        // Unison waits until a second has passed since the last change of a folder.
        await sleep(1_500)
        return rate(SIZE, () => send(ssh, dirname(file), there, memory))
      }),
    ),
})

export const syncLargeUnison = overSsh('unison', (ssh, folder, there, memory) => ssh.unison(folder, there, memory))

export const syncLargeRclone = overSsh('rclone', (ssh, folder, there) => ssh.rcloneUp(folder, there))
