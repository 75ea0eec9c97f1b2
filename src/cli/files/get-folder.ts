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
  for (const { path, size, sha256 } of files) {
    if (!isRepresentable(path)) {
      summary.skip(path, 'this machine does not allow its name')
      continue
    }
    const target = toLocalPath(local, inside(path))
    const existing = await stateOf(target)
    const isSame = existing?.size === size && existing.sha256 === (sha256 ?? (await remoteHash(api, path)))
    if (isSame) summary.unchanged()
    else if (existing && !existing.isFile) summary.skip(path, `${target} is not a regular file`)
    else if (existing && !force) summary.skip(path, `${target} exists with other content (--force replaces it)`)
    else {
      try {
        await mkdir(dirname(target), { recursive: true })
        if (!cleared.has(dirname(target))) await clearUnfinished(dirname(target), 'download', Date.now())
        cleared.add(dirname(target))
        const { content, mtime } = await withRetry(() => download(api, path), retry)
        await streamDurably(target, content, { replace: force, mtime, temporary: unfinishedName('download') })
        summary.transferred(size)
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

async function stateOf(path: string): Promise<{ isFile: boolean; size?: number; sha256?: string } | undefined> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
  if (!found?.isFile()) return found && { isFile: false }
  const file = await open(path, 'r')
  try {
    const { size, sha256 } = await measure(file)
    return { isFile: true, size, sha256 }
  } finally {
    await file.close()
  }
}
