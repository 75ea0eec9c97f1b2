import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import { formatSize } from '../../base/sizes.ts'
import type { Api } from '../../client/api.ts'
import { isFault } from '../../contract/errors.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { retryOptions } from '../retry-options.ts'
import { makeProgress } from '../progress.ts'

export const get = command({
  name: 'files get',
  summary: 'Download a file, or with -r a folder',
  details:
    'A local file gets its name only when it has arrived completely with the right checksum. It is never ' +
    'replaced without --force. With - the content goes to standard output.',
  needs: 'server',
  onlyPrints: ({ args }) => args['local'] === '-',
  args: {
    remote: 'file of the account',
    local: { summary: 'local file or folder, or - for standard output (the current folder)', optional: true },
  },
  flags: {
    force: flag.switch('replace local files', { short: 'f' }),
    recursive: flag.switch('a folder with everything in it', { short: 'r' }),
  },
  examples: [
    'svc files get /notes.txt',
    'svc files get /photos/cat.jpg ~/cat.jpg',
    'svc files get /list.csv - | sort',
    'svc files get -r /photos',
  ],
  async run({ io, api, args, flags }) {
    const { nameOf, remotePath } = await import('../../client/files/remote-files.ts')
    const remote = remotePath(args.remote)
    if (flags.recursive) {
      if (args.local === '-') throw usage('A folder cannot go to standard output.')
      const { getFolder } = await import('./get-folder.ts')
      return getFolder({ io, api, remote, local: args.local ?? (nameOf(remote) || '.'), force: flags.force })
    }
    if (remote === '/') throw usage('Name a file, or a folder with -r.')
    if (args.local === '-') return printFile(io, api, remote)

    const local = await localTarget(args.local ?? '.', nameOf(remote))
    const old = await stat(local).catch(() => undefined)
    if (old && !old.isFile()) throw new Exit(6, `${local} is not a file and is left as it is.`, 'exists')
    if (old && !flags.force) throw alreadyThere(local)
    const { content, size, sha256, mtime } = await open(io, api, remote)
    const progress = makeProgress({ label: nameOf(remote), total: size })
    const { streamDurably } = await import('../../host/durable-files.ts')
    const { clearUnfinished, unfinishedName } = await import('../../host/unfinished-files.ts')
    try {
      const mode = old && old.mode & 0o777
      await clearUnfinished(dirname(local), 'download', Date.now())
      const temporary = unfinishedName('download')
      await streamDurably(local, countBytes(content, progress.add), { replace: flags.force, mode, mtime, temporary })
    } catch (error) {
      throw errorCode(error) === 'EEXIST' ? alreadyThere(local) : error
    } finally {
      progress.end()
    }
    const bytes = (await stat(local)).size
    io.print(`Downloaded ${remote} to ${local} (${formatSize(bytes)}).`, { path: remote, local, size: bytes, sha256 })
  },
})

const alreadyThere = (local: string) => new Exit(6, `${local} already exists: --force replaces it.`, 'exists')

async function open(io: Io, api: Api, remote: string) {
  const { download } = await import('../../client/files/download.ts')
  const { withRetry } = await import('../../client/http/request-retry.ts')
  try {
    return await withRetry(() => download(api, remote), retryOptions(io))
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error
    const { lookUp } = await import('../../client/files/remote-files.ts')
    if ((await lookUp(api, remote))?.type === 'directory') throw usage(`${remote} is a folder: download it with -r.`)
    throw new Exit(5, `There is no ${remote} in the account.`, 'not_found')
  }
}

async function printFile(io: Io, api: Api, remote: string): Promise<void> {
  const { content } = await open(io, api, remote)
  for await (const chunk of content) await io.raw(chunk)
}

/** The file to write: inside a named folder with the remote name, otherwise the named path. */
async function localTarget(named: string, name: string): Promise<string> {
  const found = await stat(named).catch(() => undefined)
  const target = found?.isDirectory() || /[/\\]$/.test(named) ? join(named, name) : named
  const folder = await stat(dirname(target)).catch(() => undefined)
  if (!folder?.isDirectory())
    throw new Exit(5, `There is no folder ${dirname(target)} to put ${basename(target)} into.`, 'not_found')
  return target
}

async function* countBytes(
  content: AsyncIterable<Uint8Array>,
  add: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    add(chunk.length)
    yield chunk
  }
}
