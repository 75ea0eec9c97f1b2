import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { formatSize } from '../../base/sizes.ts'
import { fromSystemError } from '../../base/errors.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { makeProgress } from '../progress.ts'

export const exportAccount = command({
  name: 'user export',
  summary: 'Export everything of an account to one tar archive',
  details:
    'Profile, rows, files, components, own apps, conversations with the assistant, and its chat rooms, as they are at this moment, also while the server ' +
    'runs. Passwords, second factors, devices, the trash and earlier versions of files are not included.\n' +
    'Any tar program can open it. svc user import creates an account from it on this or another server.',
  needs: 'domain',
  onlyPrints: ({ flags }) => flags['to'] === '-',
  args: { name: 'user name' },
  flags: { to: flag.text('file to write, or - for standard output (NAME.tar)', 'FILE') },
  examples: [
    'svc user export ada',
    'svc user export ada --to /backup/ada.tar',
    'svc user export ada --to - | gzip > ada.tar.gz',
  ],
  async run({ io, domain: { portability }, args, flags }) {
    const { username, bytes, archive } = await portability.exportAccount(args.name)
    const to = flags.to ?? `${username}.tar`
    if (to === '-') {
      if (io.json) throw usage('--to - writes the archive to standard output, which --json needs: give a file name.')
      if (process.stdout.isTTY) throw usage('An archive cannot be written to a terminal: give --to FILE, or pipe it.')
      for await (const piece of archive) await io.raw(piece)
      return
    }
    // Ask before reading the account. The write checks again.
    if (
      await stat(to).then(
        () => true,
        () => false,
      )
    )
      throw alreadyExists(to)
    const { streamDurably } = await import('../../host/durable-files.ts')
    const progress = makeProgress({ label: `Exporting ${username}`, total: bytes })
    let written = 0
    async function* countBytes(): AsyncGenerator<Uint8Array> {
      for await (const piece of archive) {
        written += piece.length
        progress.add(piece.length)
        yield piece
      }
    }
    try {
      await streamDurably(resolve(to), countBytes(), { replace: false, mode: 0o600 })
    } catch (error) {
      throw explainWriteError(error, to)
    } finally {
      progress.end()
    }
    io.print(`Wrote ${username} to ${to} (${formatSize(written)}).`, { username, file: resolve(to), bytes: written })
  },
})

function explainWriteError(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EEXIST') return alreadyExists(file)
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new Exit(5, `There is no folder ${dirname(resolve(file))}.`, 'not_found')
  return fromSystemError(error, file)
}

const alreadyExists = (file: string): Exit =>
  new Exit(6, `${file} already exists: give another name with --to.`, 'exists')
