import { iso } from '../../base/clock.ts'
import { formatCount } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import type { AccountInBackup, Entry } from '../../domain/backups/backups.ts'
import { command, flag } from '../command.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../time-format.ts'
import { withBackupBrowser, browserFlags } from './backup-browser.ts'
import { BACKUP_NAMES } from '../backup-source.ts'

export const ls = command({
  name: 'backup ls',
  summary: 'List the accounts in a backup, or the files of one',
  details: `${BACKUP_NAMES}. Nothing is changed.`,
  needs: 'nothing',
  onlyPrints: true,
  args: { backup: 'backup' },
  flags: {
    user: flag.text('the files of this account', 'NAME'),
    path: flag.text('file or folder of the account (/)', 'PATH'),
    recursive: flag.switch('everything below', { short: 'r' }),
    ...browserFlags,
  },
  examples: [
    'svc backup ls latest',
    'svc backup ls latest --user ada --path /photos',
    'svc backup ls svc.tar --user ada -r',
  ],
  async run({ io, globals, args, flags }) {
    await withBackupBrowser({ io, globals, flags }, args.backup, async (browser) => {
      if (flags.user === undefined) return showAccounts(io, await browser.accounts())
      const [top, ...below] = await browser.below(flags.user, flags.path ?? '/')
      const depth = top!.path === '/' ? 2 : top!.path.split('/').length + 1
      const isChild = ({ path }: Entry) => flags.recursive || path.split('/').length === depth
      showEntries(io, top!.type === 'file' ? [top!] : below.filter(isChild))
    })
  },
})

function showAccounts(io: Io, accounts: AccountInBackup[]): void {
  io.table(
    accounts,
    [
      { title: 'USER', value: ({ username }) => username },
      { title: 'NAME', value: ({ display_name }) => display_name },
      { title: 'FILES', value: ({ files }) => formatCount(files), align: 'right' },
      { title: 'SIZE', value: ({ bytes }) => formatSize(bytes), align: 'right' },
    ],
    'There are no accounts in this backup.',
  )
}

function showEntries(io: Io, entries: Entry[]): void {
  const byPath = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  io.table(
    byPath,
    [
      { title: 'SIZE', value: ({ type, size }) => (type === 'file' ? formatSize(size) : ''), align: 'right' },
      { title: 'MODIFIED', value: ({ mtime }) => formatTime(mtime * 1_000) },
      { title: 'PATH', value: ({ path, type }) => (type === 'directory' ? `${path}/` : path) },
    ],
    'There is nothing in it.',
    byPath.map(({ path, type, size, mtime, sha256 }) => ({
      path,
      type,
      size: type === 'file' ? size : null,
      mtime: iso(mtime * 1_000),
      sha256,
    })),
  )
}
