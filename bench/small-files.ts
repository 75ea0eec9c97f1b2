import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { makeAccount, withService } from './account.ts'
import { requestTo, withConnections, type Connection } from './connection.ts'
import type { Figure } from './figure.ts'
import { interleave, rate, share } from './rounds.ts'
import { bytesOf, numbers, sha256Of } from './samples.ts'

const FILES = 2_000
/** Connections that send files at the same time. */
export const CLIENTS = 8
const workers = numbers(CLIENTS)

/** 1 to 16 KiB. */
const sizeOf = (number: number): number => 1_024 + ((number * 7_919) % (15 * 1_024))

export interface File {
  name: string
  data: Buffer
}

/** The files of one round; contents are unique across rounds. */
export const filesOfRound = (round: number): File[] =>
  numbers(FILES).map((number) => ({
    name: `file-${number}.bin`,
    data: bytesOf(round * FILES + number, sizeOf(number)),
  }))

/** Creates a file as durably as the service: after a power cut it is complete or absent. */
export async function createDurably(folder: string, { name, data }: File): Promise<void> {
  const path = join(folder, name)
  const file = await open(`${path}.tmp`, 'wx')
  await file.write(data)
  await file.sync()
  await file.close()
  await rename(`${path}.tmp`, path)
  const names = await open(folder, 'r')
  await names.sync()
  await names.close()
}

/** Sends the requests of one round, distributed to the connections; requests/s. */
export const sendAll = (connections: readonly Connection[], requests: readonly Buffer[]) =>
  rate(requests.length, () => share(connections, requests, (connection, request) => connection.ask(request)))

export const uploadsOf = (files: readonly File[], url: string, token: string, folder: string): Buffer[] =>
  files.map(({ name, data }) =>
    requestTo(url, {
      method: 'POST',
      path: `/api/sync/files.php?action=upload&path=/${folder}/${name}`,
      token,
      body: data,
    }),
  )

/** Upload of many small files, one durable request each. */
export const smallUploads: Figure = {
  name: 'small-uploads',
  unit: 'files/s',
  peer: 'the same files created durably by 8 writers',
  wanted: { least: 1.5 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    return withService(workspace, account, ({ url }) =>
      withConnections(url, CLIENTS, (connections) =>
        interleave({
          ours: (round) => sendAll(connections, uploadsOf(filesOfRound(round), url, account.token, `round-${round}`)),
          async peer(round) {
            const folder = workspace.folder('small')
            const files = filesOfRound(round)
            return rate(FILES, () => share(workers, files, (_, file) => createDurably(folder, file)))
          },
          rounds: 5,
        }),
      ),
    )
  },
}

/** Download of many small files. */
export const smallDownloads: Figure = {
  name: 'small-downloads',
  unit: 'files/s',
  peer: 'reading and hashing them with 8 readers',
  wanted: undefined,
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const files = filesOfRound(0)
    const folder = workspace.folder('small')
    await share(workers, files, (_, file) => createDurably(folder, file))
    return withService(workspace, account, ({ url }) =>
      withConnections(url, CLIENTS, async (connections) => {
        await sendAll(connections, uploadsOf(files, url, account.token, 'small'))
        const requests = files.map(({ name }) =>
          requestTo(url, { path: `/api/sync/files.php?action=download&path=/small/${name}`, token: account.token }),
        )
        return interleave({
          ours: () => sendAll(connections, requests),
          peer: () =>
            rate(FILES, () =>
              share(workers, files, async (_, { name }) => sha256Of(await readFile(join(folder, name)))),
            ),
          rounds: 7,
        })
      }),
    )
  },
}
