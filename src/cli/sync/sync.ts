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
  summary: 'Bring a folder and the account together, once or for as long as it runs',
  details:
    'Without a folder it takes the one around the current folder, or the only one there is. An edit beats a deletion; where both ' +
    'sides changed a file, the version of the server keeps its name and yours is kept beside it as a conflict copy. What is replaced ' +
    'or deleted here lies in .svc/trash for 30 days. A run that would delete 25 files or more, and more than 30 % of ' +
    'all, stops before it begins. What was only renamed or moved is moved on the other side too.\n\n' +
    'What .svcignore names is left alone on both sides: rules as in a .gitignore, in the folder itself or in those below, and ' +
    'synchronised like any other file. Rules delete nothing; without them both sides are compared anew. --dry-run names the rule ' +
    'for everything that is ignored.\n\n' +
    '--watch goes on until it is ended: a change on either side is acted on within seconds, and a server that is away is waited for. ' +
    'It takes several folders; without one, all of this account.',
  needs: 'server',
  args: { dir: { summary: 'synchronised folder; several with --watch', optional: true, many: true } },
  flags: {
    dryRun: flag.switch('show what would be done, and change nothing at all'),
    watch: flag.switch('go on and keep them in step'),
    maxDelete,
    forceDelete: flag.switch('delete as much as there is to delete'),
  },
  examples: [
    'svc sync',
    'svc sync ~/cloud --dry-run',
    'svc sync ~/cloud --max-delete 200',
    'svc sync --watch',
    'svc sync --json',
  ],
  async run({ io, globals, api, account, args, flags }) {
    if (flags.maxDelete && flags.forceDelete)
      throw usage('--max-delete sets a limit and --force-delete lifts it: give one of them.')
    if (flags.watch && (flags.dryRun || flags.forceDelete))
      throw usage(
        '--watch goes neither with --dry-run nor with --force-delete: the brake is there for when nobody looks.',
      )
    if (!flags.watch && args.dir.length > 1) throw usage('Several folders go with --watch only: name one.')
    const { userFolder } = await import('../../host/folders.ts')
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
      const ending = 'Interrupted: what was done stays done, and the next run goes on from there.'
      const summary = await interruptible(ending, (signal) =>
        runSync({
          path,
          stateFolder,
          api,
          account,
          dryRun: flags.dryRun,
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
