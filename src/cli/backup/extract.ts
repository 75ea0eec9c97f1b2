import { lstat, mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { errorCode, problemText } from '../../base/errors.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import type { Browser, JobContext, Entry } from '../../domain/backups/backups.ts'
import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, usage, type ExitCode } from '../exit.ts'
import { withBackupBrowser, browserFlags } from './backup-browser.ts'
import { BACKUP_NAMES } from '../backup-source.ts'

/** Left-out files shown as text; `--json` lists all. */
const MAX_LISTED = 20

export const extract = command({
  name: 'backup extract',
  summary: 'Restore files of one account from a backup to a folder',
  details:
    'Writes only below --to, follows no links there, and replaces nothing without --force. What cannot be written' +
    ` is skipped and listed, with exit code 3. ${BACKUP_NAMES}.`,
  needs: 'nothing',
  args: { backup: 'backup' },
  flags: {
    user: flag.text('the account', 'NAME'),
    path: flag.text('file or folder of the account (/)', 'PATH'),
    to: flag.text('folder to write to', 'DIR'),
    force: flag.switch('replace existing files', { short: 'f' }),
    ...browserFlags,
  },
  examples: [
    'svc backup extract latest --user ada --to ada-restored',
    'svc backup extract svc.tar --user ada --path /photos --to . --force',
  ],
  async run({ io, globals, args, flags: { user, path, to, force, ...flags } }) {
    if (user === undefined || to === undefined) throw usage('Give the account and the folder: --user NAME --to DIR.')
    return withBackupBrowser({ io, globals, flags }, args.backup, async (browser, job): Promise<ExitCode> => {
      const entries = await browser.below(user, path ?? '/')
      const { files, bytes, skipped } = await writeAll(browser, entries, resolve(to), force, job)
      for (const { path: left, why } of skipped.slice(0, MAX_LISTED)) io.warn(`${printable(left)} is skipped: ${why}.`)
      if (skipped.length > MAX_LISTED) io.warn(`… and ${skipped.length - MAX_LISTED} more.`)
      const words = `Restored ${pluralize(files, 'file')} to ${resolve(to)} (${formatSize(bytes)}).`
      io.print(words, { to: resolve(to), files, bytes, skipped })
      return skipped.length > 0 ? 3 : 0
    })
  },
})

interface Extracted {
  files: number
  bytes: number
  skipped: { path: string; why: string }[]
}

/** Whether a name is valid on this system and cannot leave its folder. */
const isSafeName = (name: string): boolean =>
  name !== '' &&
  name !== '.' &&
  name !== '..' &&
  !name.includes('/') &&
  !name.includes('\0') &&
  (process.platform !== 'win32' || !/[\\:*?"<>|]|[. ]$/.test(name))

const reasonOf = (error: unknown): string =>
  errorCode(error) === 'EEXIST' ? 'it already exists (--force replaces it)' : problemText(error).replace(/\.$/, '')

/** Creates a folder, or checks that the existing one is not a link. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    if (!(await lstat(path)).isDirectory())
      throw new Error('something other than a folder has its name', { cause: error })
  }
}

/** Writes entries in order, folders before their contents. The top keeps only its last name, the root none. */
async function writeAll(
  browser: Browser,
  [top, ...below]: Entry[],
  target: string,
  force: boolean,
  { progress, signal }: JobContext,
): Promise<Extracted> {
  const { streamDurably } = await import('../../host/durable-files.ts')
  const extracted: Extracted = { files: 0, bytes: 0, skipped: [] }
  await (await import('../../host/folder-creation.ts')).makeFolder(target)
  const start = top!.path === '/' ? 0 : top!.path.lastIndexOf('/')
  // Local path of each folder. Entries below a folder that could not be created are left out.
  const folders = new Map<string, string>([[top!.path.slice(0, start), target]])
  progress?.total([top!, ...below].reduce((sum, { type, size }) => sum + (type === 'file' ? size : 0), 0))

  async function write(entry: Entry): Promise<void> {
    const slash = entry.path.lastIndexOf('/')
    const folder = folders.get(entry.path.slice(0, slash))
    const name = entry.path.slice(slash + 1)
    if (folder === undefined) throw new Error('its folder is skipped')
    if (!isSafeName(name)) throw new Error('this machine does not allow its name')
    const path = join(folder, name)
    if (entry.type === 'directory') {
      await makeFolder(path)
      folders.set(entry.path, path)
      return
    }
    await streamDurably(path, countBytes(browser.read(entry)), { replace: force, mode: 0o600, mtime: entry.mtime })
    extracted.files += 1
    extracted.bytes += entry.size
  }

  async function* countBytes(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of content) {
      signal?.throwIfAborted()
      progress?.add(part.length)
      yield part
    }
  }

  for (const entry of top!.path === '/' ? below : [top!, ...below]) {
    try {
      await write(entry)
    } catch (error) {
      if (error instanceof Exit) throw error
      extracted.skipped.push({ path: entry.path, why: reasonOf(error) })
    }
  }
  return extracted
}
