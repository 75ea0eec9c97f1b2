import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../base/errors.ts'
import type { Api } from '../../client/api.ts'
import { withRetry } from '../../client/http/request-retry.ts'
import { remoteHash } from '../../client/files/download.ts'
import { below, makeFolder, nameOf, readTree } from '../../client/files/remote-files.ts'
import { measure, upload } from '../../client/files/upload.ts'
import { isFault } from '../../contract/errors.ts'
import { Exit, type ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'
import { retryOptions } from '../retry-options.ts'
import { makeProgress } from '../progress.ts'
import { makeTransferSummary } from './transfer-summary.ts'
import { nameProblem } from '../../client/files/path-rules.ts'

interface PutFolder {
  io: Io
  api: Api
  local: string
  remote: string
  noClobber: boolean
}

/** Uploads a folder. Files that exist remotely with the same content are not sent again; symbolic links are skipped. */
export async function putFolder({ io, api, local, remote, noClobber }: PutFolder): Promise<ExitCode> {
  const retry = retryOptions(io)
  const { files } = await withRetry(() => readTree(api, remote), retry)
  const existing = new Map(files.map((file) => [file.path.normalize('NFC'), file]))
  /** The local files that were uploaded or unchanged, by path of the account: there, Unicode normal forms are one name. */
  const done = new Map<string, string>()
  const summary = makeTransferSummary()
  const progress = makeProgress({ label: nameOf(remote), total: undefined })

  async function folder(directory: string, path: string): Promise<void> {
    const entries = await readdir(directory, { withFileTypes: true })
    if (entries.length === 0) await withRetry(() => makeFolder(api, path), retry)
    for (const entry of entries) {
      const source = join(directory, entry.name)
      const target = below(path, entry.name)
      if (nameProblem(entry.name)) summary.skip(source, 'the server does not accept its name')
      else if (entry.isDirectory()) await folder(source, target)
      else if (entry.isFile()) await file(source, target)
      else summary.skip(source, 'it is not a regular file')
    }
  }

  async function file(source: string, path: string): Promise<void> {
    const key = path.normalize('NFC')
    const other = done.get(key)
    if (other !== undefined) return summary.skip(source, `${path} already holds ${other}`)
    const handle = await open(source, 'r')
    try {
      const found = await measure(handle)
      const known = existing.get(key)
      const isSame =
        known?.size === found.size && (known.sha256 ?? (await remoteHash(api, known.path))) === found.sha256
      if (!isSame && known !== undefined && noClobber) return summary.skip(source, `${path} exists with other content`)
      if (isSame) summary.unchanged()
      else {
        await withRetry(() => upload(api, path, found, { ifAbsent: noClobber, sent: progress.add }), retry)
        summary.transferred(found.size)
      }
      done.set(key, source)
    } catch (error) {
      // The error concerns this file alone, unlike a full quota: continue with the others.
      if (!isFault(error) || !['exists', 'bad_path', 'precondition_failed'].includes(error.code)) throw error
      summary.skip(source, error.message)
    } finally {
      await handle.close()
    }
  }

  try {
    await folder(local, remote)
  } catch (error) {
    throw errorCode(error) === 'ENOTDIR' ? new Exit(2, `${local} is not a folder: leave out -r.`, 'usage') : error
  } finally {
    progress.end()
  }
  return summary.report(io, 'Uploaded', remote, { local, path: remote })
}
