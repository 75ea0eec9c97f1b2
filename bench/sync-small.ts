import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeAccount, withService } from './account.ts'
import type { Figure, Rounds } from './figure.ts'
import { noRclone, withWebDav } from './peers.ts'
import { duration, interleave } from './rounds.ts'
import { bytesOf, numbers } from './samples.ts'
import { clientOf, writeFiles, type Client } from './sync-client.ts'
import { noSsh, withSsh, type Ssh } from './ssh-peers.ts'
import type { Workspace } from './workspace.ts'

// First upload and download of small files with the command, including startup, hashing and flushing.

const FILES = 2_000
const FOLDERS = 40
/** Limit with the default rate limits, seconds. */
const MOST_SECONDS = 90

/** A folder with 2,000 new files of 1 to 16 KiB. */
function freshFolder(workspace: Workspace, round: number): string {
  const folder = workspace.folder('files')
  writeFiles(
    folder,
    numbers(FILES).map((number) => ({
      folder: `folder-${number % FOLDERS}`,
      name: `file-${number}.bin`,
      data: bytesOf(round * FILES + number, 1_024 + ((number * 7_919) % (15 * 1_024))),
    })),
  )
  return folder
}

/** Uploads a folder to a new account, and passes on a function that measures its download. */
async function withSent<T>(
  workspace: Workspace,
  folder: string,
  work: (sent: { took: number; client: Client }) => Promise<T> | T,
  limits: 'on' | 'off' = 'off',
): Promise<T> {
  const account = await makeAccount(workspace)
  return withService(
    workspace,
    account,
    async (server) => {
      const client = clientOf(workspace, server, account)
      client.svc('sync', 'init', folder)
      const took = await duration(() => client.sync(folder))
      return work({ took, client })
    },
    limits,
  )
}

const upload = (workspace: Workspace, folder: string): Promise<number> =>
  withSent(workspace, folder, ({ took }) => took)

/** Downloads what another device uploaded. */
const download = (workspace: Workspace, folder: string): Promise<number> =>
  withSent(workspace, folder, ({ client }) => {
    const other = workspace.folder('other')
    client.svc('sync', 'init', other)
    return duration(() => client.sync(other))
  })

/** One round only: it takes over a minute. */
const RCLONE = 'rclone sync to nginx (WebDAV)'
const NOTE =
  'rclone takes at most 100 requests a second of WebDAV for itself, and a new file needs three: no flag changes that'

export const syncUpload: Figure = {
  name: 'sync-upload',
  unit: 'ms',
  peer: RCLONE,
  wanted: { most: 0.6 },
  missing: noRclone,
  measure: (workspace) =>
    withWebDav(workspace, async ({ up }): Promise<Rounds> => {
      const folder = freshFolder(workspace, 0)
      const peer = [await duration(() => up(folder, 'up'))]
      return { ours: [await upload(workspace, folder)], peer, note: NOTE }
    }),
}

export const syncDownload: Figure = {
  name: 'sync-download',
  unit: 'ms',
  peer: RCLONE.replace(' to ', ' from '),
  wanted: { most: 0.6 },
  missing: noRclone,
  measure: (workspace) =>
    withWebDav(workspace, async ({ up, down }): Promise<Rounds> => {
      const folder = freshFolder(workspace, 0)
      up(folder, 'up')
      const peer = [await duration(() => down('up', workspace.folder('down')))]
      return { ours: [await download(workspace, folder)], peer }
    }),
}

/** Alternates between ours and a program over SSH, each time with new files and folders. */
const overSsh = (
  program: 'unison' | 'rsync',
  ours: (workspace: Workspace, folder: string) => Promise<number>,
  peer: (ssh: Ssh, workspace: Workspace, folder: string) => Promise<number>,
): Pick<Figure, 'unit' | 'peer' | 'missing' | 'measure'> => ({
  unit: 'ms',
  peer: `${program} over SSH on this machine, which flushes nothing`,
  missing: noSsh(program),
  measure: (workspace) =>
    withSsh(workspace, (ssh) =>
      interleave({
        ours: (round) => ours(workspace, freshFolder(workspace, 2 * round)),
        async peer(round) {
          const folder = freshFolder(workspace, 2 * round + 1)
          // Unison waits until a second has passed since the last change of a folder.
          await sleep(1_500)
          return peer(ssh, workspace, folder)
        },
        rounds: 3,
      }),
    ),
})

const there = (workspace: Workspace): string => join(workspace.folder('there'), 'files')

/** Downloads with Unison into an empty folder. */
function unisonDown(ssh: Ssh, workspace: Workspace, folder: string): Promise<number> {
  const memory = workspace.folder('unison')
  return duration(() => ssh.unison(workspace.folder('here'), folder, memory))
}

export const syncUploadUnison: Figure = {
  name: 'sync-upload-unison',
  wanted: { most: 1 },
  ...overSsh('unison', upload, (ssh, workspace, folder) => {
    const [memory, target] = [workspace.folder('unison'), there(workspace)]
    return duration(() => ssh.unison(folder, target, memory))
  }),
}

export const syncUploadRsync: Figure = {
  name: 'sync-upload-rsync',
  wanted: undefined,
  ...overSsh('rsync', upload, (ssh, workspace, folder) => {
    const target = there(workspace)
    return duration(() => ssh.rsyncUp(folder, target))
  }),
}

export const syncDownloadUnison: Figure = {
  name: 'sync-download-unison',
  wanted: { most: 1 },
  ...overSsh('unison', download, unisonDown),
}

export const syncDownloadRsync: Figure = {
  name: 'sync-download-rsync',
  wanted: undefined,
  ...overSsh('rsync', download, (ssh, workspace, folder) => {
    const target = workspace.folder('here')
    return duration(() => ssh.rsyncDown(folder, target))
  }),
}

/** The first upload with default rate limits. */
export const syncLimited: Figure = {
  name: 'sync-limited',
  unit: 's',
  peer: `the limit for ${FILES.toLocaleString('en')} files with rate limits on`,
  wanted: { most: 1 },
  async measure(workspace) {
    const folder = freshFolder(workspace, 0)
    const took = await withSent(workspace, folder, (sent) => sent.took, 'on')
    return { ours: [took / 1_000], peer: [MOST_SECONDS] }
  },
}

/** A run without changes. */
export const syncNoop: Figure = {
  name: 'sync-noop',
  unit: 'ms',
  peer: RCLONE,
  wanted: { most: 1.5 },
  missing: noRclone,
  measure: (workspace) =>
    withWebDav(workspace, ({ up }) => {
      const folder = freshFolder(workspace, 0)
      up(folder, 'up')
      return withSent(workspace, folder, ({ client }) => {
        // The first change in the feed makes the client learn the ids of all files.
        writeFiles(folder, [{ folder: '', name: 'news', data: randomBytes(10) }])
        client.sync(folder)
        up(folder, 'up')
        return interleave({
          ours: () => duration(() => client.sync(folder)),
          peer: () => duration(() => up(folder, 'up')),
          rounds: 7,
        })
      })
    }),
}
