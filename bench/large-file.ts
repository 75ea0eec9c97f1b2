import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { get, request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeAccount, withService, type Account } from './account.ts'
import type { Figure } from './figure.ts'
import { interleave, rate } from './rounds.ts'
import { bytesOf } from './samples.ts'
import type { Server } from './server.ts'
import type { Workspace } from './workspace.ts'

const MIB = 1 << 20
/** Size of the file, MiB. */
export const SIZE = 512

/** Writes the file to transfer. */
export async function makeFile(workspace: Workspace): Promise<string> {
  const path = join(workspace.folder('large'), 'large.bin')
  const file = await open(path, 'wx')
  const piece = bytesOf(1, MIB)
  for (let number = 0; number < SIZE; number++) {
    piece.writeUInt32LE(number)
    await file.write(piece)
  }
  await file.close()
  return path
}

/** Changes the file, so that its content is new to the service. */
export async function mark(path: string, round: number): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(Buffer.from(`round ${round}`), 0, null, 16)
  await file.close()
}

const pathOf = (action: string) => `/api/sync/files.php?action=${action}&path=/large.bin`

const authorization = ({ token }: Account) => ({ authorization: `Bearer ${token}` })

async function upload(server: Server, account: Account, file: string): Promise<void> {
  const sent = request(new URL(pathOf('upload'), server.url), {
    method: 'POST',
    headers: { ...authorization(account), 'content-type': 'application/octet-stream', 'content-length': SIZE * MIB },
  })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  await pipeline(createReadStream(file, { highWaterMark: MIB }), sent)
  const [answer] = await answered
  if (answer.statusCode !== 200) throw new Error(`The upload was answered with ${answer.statusCode}.`)
  answer.resume()
  await once(answer, 'end')
}

async function download(server: Server, account: Account): Promise<void> {
  const sent = get(new URL(pathOf('download'), server.url), { headers: authorization(account) })
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  let bytes = 0
  answer.on('data', (chunk: Buffer) => void (bytes += chunk.length))
  await once(answer, 'end')
  if (bytes !== SIZE * MIB) throw new Error(`${bytes} bytes came down.`)
}

/** Reads and hashes a file. */
export const hash = (file: string) => pipeline(createReadStream(file, { highWaterMark: MIB }), createHash('sha256'))

/** Upload of one large file: received, hashed, written and flushed before the response. */
export const largeUpload: Figure = {
  name: 'upload',
  unit: 'MiB/s',
  peer: 'one SHA-256 pass over the file',
  wanted: { least: 0.8 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const file = await makeFile(workspace)
    return withService(workspace, account, (server) =>
      interleave({
        async ours(round) {
          await mark(file, round)
          return rate(SIZE, () => upload(server, account, file))
        },
        peer: () => rate(SIZE, () => hash(file)),
        rounds: 5,
      }),
    )
  },
}

/** Download of the same file; the client only counts bytes. */
export const largeDownload: Figure = {
  name: 'download',
  unit: 'MiB/s',
  peer: 'reading and hashing the file',
  wanted: { least: 0.5 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    const file = await makeFile(workspace)
    return withService(workspace, account, async (server) => {
      await upload(server, account, file)
      return interleave({
        ours: () => rate(SIZE, () => download(server, account)),
        peer: () => rate(SIZE, () => hash(file)),
        rounds: 5,
      })
    })
  },
}
