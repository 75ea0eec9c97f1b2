import type { MaxDelete } from '../../client/sync/index.ts'
import { command, flag, type FlagSpec } from '../command.ts'
import { usage } from '../exit.ts'
import { interruptible } from '../interruption.ts'

const maxDelete: FlagSpec<MaxDelete> = {
  summary: 'stop when more than this many files, or this share of them, would be deleted on one side',
  value: 'N|N%',
  parse(text) {
    const match = /^(\d{1,9})(%?)$/.exec(text)
    if (!match) throw usage(`must be a number of files or a percentage such as 20%, not "${text}"`)
    return match[2] ? { percent: Number(match[1]) } : { files: Number(match[1]) }
  },
}

export const sync = command({
  name: 'sync',
  summary: 'Synchronise a folder with the account, once or continuously',
  details:
    'Without a folder it uses the synchronised folder that contains the current one, or the only one there is. An edit wins over a deletion. If both ' +
    'sides changed a file, the version of the server keeps the name and yours is kept beside it as a conflict copy. Local files that are replaced ' +
    'or deleted stay in .svc/trash for 30 days. A run that would delete 25 files or more, and more than 30 % of ' +
    'all, stops before it begins. Files that were only renamed or moved are moved on the other side too.\n\n' +
    'What .svcignore names is ignored on both sides. It has rules as in a .gitignore, in the folder itself or in folders below, and is ' +
    'synchronised like any other file. Rules delete nothing; when they are removed, both sides are compared again. --dry-run shows the rule ' +
    'for everything that is ignored.\n\n' +
    'Links, sockets and other special files are never synchronised. The run that meets one first lists it and ends with exit code 3; later runs ' +
    'skip it silently. svc sync status --json lists them all.\n\n' +
    '--watch runs until interrupted. It synchronises a change on either side within seconds, and waits while the server is not reachable. ' +
    'It takes several folders. Without one, it watches all folders of this account.',
  needs: 'server',
  args: { dir: { summary: 'synchronised folder; several with --watch', optional: true, many: true } },
  flags: {
    dryRun: flag.switch('show what would be done, and change nothing at all'),
    watch: flag.switch('keep running and synchronise changes'),
    maxDelete,
    forceDelete: flag.switch('delete without a limit'),
    retry: flag.duration('while the server is unavailable, try again for this long'),
  },
  examples: [
    'svc sync',
    'svc sync ~/cloud --dry-run',
    'svc sync ~/cloud --max-delete 200',
    'svc sync --watch',
    'svc sync --quiet --retry 10m',
    'svc sync --json',
  ],
  async run({ io, globals, api, account, args, flags }) {
    if (flags.maxDelete && flags.forceDelete)
      throw usage('--max-delete sets a limit and --force-delete lifts it: give one of them.')
    if (flags.watch && (flags.dryRun || flags.forceDelete))
      throw usage(
        '--watch cannot be combined with --dry-run or --force-delete: the deletion guard is for unattended runs.',
      )
    if (flags.watch && flags.retry !== undefined) throw usage('--watch waits for the server in any case: omit --retry.')
    if (!flags.watch && args.dir.length > 1) throw usage('Several folders go with --watch only: name one.')
    const { userFolder } = await import('../../host/user-folders.ts')
    const { systemClock } = await import('../../base/clock.ts')
    const { findRoot, findRoots, runSync } = await import('../../client/sync/index.ts')
    const { sleep } = await import('../../base/sleep.ts')
    const { makeRunReport } = await import('./run-report.ts')
    const stateFolder = userFolder('state', globals.env)
    if (flags.watch) {
      const { watchFolders } = await import('./watch-folders.ts')
      const roots = await findRoots(args.dir, process.cwd(), stateFolder, account)
      return watchFolders({ io, api, account, stateFolder, roots, maxDelete: flags.maxDelete })
    }
    const path = await findRoot(args.dir[0], process.cwd(), stateFolder)

    const show = makeRunReport(io)
    try {
      const ending = 'Interrupted: what was done stays done, and the next run continues.'
      const summary = await interruptible(ending, (signal) =>
        runSync({
          path,
          stateFolder,
          api,
          account,
          dryRun: flags.dryRun,
          retry: flags.retry,
          sleep,
          clock: systemClock,
          maxDelete: flags.forceDelete ? 'any' : flags.maxDelete,
          signal,
          rows: true,
          emit: show.event,
        }),
      )
      return show.summary(summary)
    } finally {
      show.end()
    }
  },
})
