import { basename, join, resolve } from 'node:path'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { formatSize } from '../../base/sizes.ts'
import { isFault } from '../../contract/errors.ts'
import { makeTemporaryFolder } from '../../host/temporary-folder.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { retryOptions } from '../retry-options.ts'
import { makeProgress } from '../progress.ts'

export const put = command({
  name: 'files put',
  summary: 'Upload a file, or with -r a folder',
  details:
    'An existing file of the account is replaced, and its old content can be restored for a while; --no-clobber refuses instead. ' +
    'With - the content comes from standard input.',
  needs: 'server',
  args: {
    local: 'local file, or - for standard input',
    remote: { summary: 'file or folder of the account (the top folder)', optional: true },
  },
  flags: {
    noClobber: flag.switch('do not replace files of the account', { short: 'n' }),
    recursive: flag.switch('a folder with everything in it', { short: 'r' }),
  },
  examples: [
    'svc files put notes.txt',
    'svc files put cat.jpg /photos/',
    'pg_dump shop | svc files put - /backup/shop.sql',
    'svc files put -r photos',
  ],
  async run({ io, api, args, flags }) {
    const { below, listFolder, remotePath } = await import('../../client/files/remote-files.ts')
    const name = args.local === '-' ? undefined : basename(resolve(args.local))
    const named = args.remote ?? '/'
    const target = remotePath(named)
    const isFolder = named.endsWith('/') || (await listFolder(api, target)) !== undefined
    if (name === undefined && isFolder)
      throw usage('Name the file that standard input goes to: svc files put - /notes.txt')
    const remote = isFolder ? below(target, name!) : target
    if (flags.recursive) {
      if (args.local === '-') throw usage('A folder cannot come from standard input.')
      const { putFolder } = await import('./put-folder.ts')
      return putFolder({ io, api, local: args.local, remote, noClobber: flags.noClobber })
    }

    const { measure, upload } = await import('../../client/files/upload.ts')
    const { withRetry } = await import('../../client/http/request-retry.ts')
    const { file, remove } = args.local === '-' ? await spoolInput(io.input()) : await openFile(args.local)
    try {
      const found = await measure(file)
      const { sha256, size } = found
      const send = async () => {
        const progress = makeProgress({ label: basename(remote), total: size })
        try {
          return await upload(api, remote, found, { ifAbsent: flags.noClobber, sent: progress.add })
        } finally {
          progress.end()
        }
      }
      const answer = await withRetry(send, retryOptions(io))
      io.print(`Uploaded ${args.local === '-' ? 'standard input' : args.local} to ${remote} (${formatSize(size)}).`, {
        path: remote,
        size,
        sha256,
        version: answer.version,
      })
    } catch (error) {
      if (isFault(error, 'precondition_failed'))
        throw new Exit(6, `${remote} already exists and is left as it is.`, 'exists')
      throw error
    } finally {
      await file.close()
      await remove()
    }
  },
})

interface Source {
  file: FileHandle
  remove(): Promise<void>
}

async function openFile(path: string): Promise<Source> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Exit(5, `There is no file ${path}.`, 'not_found') : error
  })
  if (found.isDirectory()) throw usage(`${path} is a folder: upload it with -r.`)
  if (!found.isFile()) throw usage(`${path} is not a regular file: upload its content with svc files put - instead.`)
  return { file: await open(path, 'r'), remove: async () => undefined }
}

/** Standard input as a temporary file: an upload needs its length and checksum first. */
async function spoolInput(input: AsyncIterable<Uint8Array>): Promise<Source> {
  const { path: folder, remove } = await makeTemporaryFolder('svc-')
  try {
    const file = await open(join(folder, 'input'), 'wx+', 0o600)
    // Unlink the file at once where the system allows it, so that a crash leaves nothing behind.
    if (process.platform !== 'win32') await remove()
    for await (const chunk of input) await file.writeFile(chunk)
    return { file, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
