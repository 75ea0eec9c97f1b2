import { makeFolder } from '../../host/folder-creation.ts'
import { mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Api } from '../../client/api.ts'
import { download, remoteHash } from '../../client/files/download.ts'
import { withRetry } from '../../client/http/request-retry.ts'
import { lookUp, nameOf, readTree } from '../../client/files/remote-files.ts'
import { measure } from '../../client/files/upload.ts'
import { isFault } from '../../contract/errors.ts'
import { streamDurably } from '../../host/durable-files.ts'
import { clearUnfinished, unfinishedName } from '../../host/unfinished-files.ts'
import { Exit, type ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'
import { retryOptions } from '../retry-options.ts'
import { makeProgress } from '../progress.ts'
import { makeTransferSummary } from './transfer-summary.ts'
import { toLocalPath } from '../../client/files/local-path.ts'
import { isSafePath, unrepresentable } from '../../client/files/path-rules.ts'

interface GetFolder {
  io: Io
  api: Api
  remote: string
  local: string
  force: boolean
}

/** Downloads a folder. Local files with the same content are kept; others are replaced only with `force`. */
export async function getFolder({ io, api, remote, local, force }: GetFolder): Promise<ExitCode> {
  const retry = retryOptions(io)
  const item = await lookUp(api, remote)
  if (item?.type !== 'directory') throw new Exit(5, `There is no folder ${remote} in the account.`, 'not_found')
  const { files, directories } = await withRetry(() => readTree(api, remote), retry)
  const inside = (path: string) => path.slice(remote === '/' ? 0 : remote.length)
  const summary = makeTransferSummary()
  const isRepresentable = (path: string) => isSafePath(path) && unrepresentable(inside(path)) === undefined

  await makeFolder(local)
  for (const path of directories) {
    if (isRepresentable(path)) await mkdir(toLocalPath(local, inside(path)), { recursive: true })
    else summary.skip(path, 'this machine does not allow its name')
  }
  const progress = makeProgress({ label: nameOf(remote) || '/', total: files.reduce((sum, { size }) => sum + size, 0) })
  const cleared = new Set<string>()
  const done = makeDoneFiles()
  for (const { path, size, sha256 } of files) {
    if (!isRepresentable(path)) {
      summary.skip(path, 'this machine does not allow its name')
      continue
    }
    const target = toLocalPath(local, inside(path))
    const other = await done.find(target)
    const existing = other === undefined ? await stateOf(target) : undefined
    const isSame = existing?.size === size && existing.sha256 === (sha256 ?? (await remoteHash(api, path)))
    if (other !== undefined) summary.skip(path, `${target} already holds ${other}`)
    else if (isSame) {
      summary.unchanged()
      await done.add(target, path)
    } else if (existing && !existing.isFile) summary.skip(path, `${target} is not a regular file`)
    else if (existing && !force) summary.skip(path, `${target} exists with other content (--force replaces it)`)
    else {
      try {
        await mkdir(dirname(target), { recursive: true })
        if (!cleared.has(dirname(target))) await clearUnfinished(dirname(target), 'download', Date.now())
        cleared.add(dirname(target))
        const { content, mtime } = await withRetry(() => download(api, path), retry)
        await streamDurably(target, content, { replace: force, mtime, temporary: unfinishedName('download') })
        summary.transferred(size)
        await done.add(target, path)
      } catch (error) {
        // The file was deleted or damaged since it was listed: continue with the others.
        if (!isFault(error)) throw error
        summary.skip(path, error.message)
      }
    }
    progress.add(size)
  }
  progress.end()
  return summary.report(io, 'Downloaded', local, { path: remote, local })
}

/** Remembers which files on this machine a download is done with, by their identity: names that differ in case can be one file. */
function makeDoneFiles() {
  const paths = new Map<string, string>()
  const keyOf = async (file: string): Promise<string | undefined> => {
    const found = await stat(file, { bigint: true }).catch(ignoreMissing)
    // A hard link is another name of the same file, and replacing it leaves the others.
    return found?.nlink === 1n && found.ino !== 0n ? `${found.dev}:${found.ino}` : undefined
  }
  return {
    /** The path of the account that a file already holds. */
    async find(file: string): Promise<string | undefined> {
      const key = paths.size === 0 ? undefined : await keyOf(file)
      return key === undefined ? undefined : paths.get(key)
    },
    async add(file: string, path: string): Promise<void> {
      const key = await keyOf(file)
      if (key !== undefined) paths.set(key, path)
    },
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

async function stateOf(path: string): Promise<{ isFile: boolean; size?: number; sha256?: string } | undefined> {
  const found = await stat(path).catch(ignoreMissing)
  if (!found?.isFile()) return found && { isFile: false }
  const file = await open(path, 'r')
  try {
    const { size, sha256 } = await measure(file)
    return { isFile: true, size, sha256 }
  } finally {
    await file.close()
  }
}
