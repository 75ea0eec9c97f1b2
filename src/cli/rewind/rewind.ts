import type { Domain } from '../../domain/domain.ts'
import type { Failure, RewindPlan } from '../../domain/rewind/rewind.ts'
import type { Backups } from '../../domain/backups/backups.ts'
import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import { makeLockedFolder } from '../../host/temporary-folder.ts'
import type { DataDirectory } from '../../wiring/installation/data-directory.ts'
import { command, flag, type Globals } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, usage, type ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'
import { BACKUP_NAMES, passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'
import { withProgress } from '../progress.ts'
import { commandLine } from '../shell-words.ts'
import { formatTime } from '../time-format.ts'
import { assertExact, withNearest } from './moment.ts'
import { differenceText, documentOf, isEmpty } from './rewind-summary.ts'

export const rewind = command({
  name: 'rewind',
  summary: 'Take the files and rows of one account back to an earlier moment',
  details:
    'Shows what would change. With --apply the present state is backed up first, then files and rows become as they were at that moment: ' +
    'deleted ones return, changed ones get their earlier content, and newer ones are removed, files to the trash. The output names the command that undoes it.\n\n' +
    `--to names a moment of a stream, such as 14:05, "yesterday 14:05" or 2026-11-26T14:05:07Z, or a backup. ${BACKUP_NAMES}. Times without a zone are those of this machine.\n\n` +
    'Clients receive the changes like any others, and changes that they have not sent yet are kept as with every concurrent change. ' +
    'Chat, trash, earlier versions, desktop components, conversations with the assistant, settings, devices and sessions stay as they are. What somebody changes meanwhile is left alone and listed, with exit code 3.',
  needs: 'domain',
  args: {},
  flags: {
    user: flag.text('the account', 'NAME'),
    to: flag.text('moment or backup', 'WHEN'),
    apply: flag.switch('do it'),
    saveTo: flag.text('folder for the backup of the present state (that of --from)', 'DIR'),
    ...sourceFlags,
    temp: flag.text('folder for a temporary copy of the database', 'DIR'),
  },
  examples: [
    "svc rewind --user ada --to '14:05'",
    "svc rewind --user ada --to '14:05' --apply",
    "svc rewind --user ada --to 'yesterday 14:05' --from /mnt/backup/svc",
    'svc rewind --user ada --to latest --from /mnt/backup/svc --apply',
  ],
  async run({ io, globals, domain, directory, flags }): Promise<ExitCode> {
    const { user, to } = flags
    if (user === undefined || to === undefined) throw usage('Give the account and the moment: --user NAME --to WHEN.')
    await domain.accounts.details(user).catch((error: unknown) => {
      throw withHelp(error)
    })
    const from = flags.from ?? ((await domain.instance.settings.values())['backup.to'] || undefined)
    const locations = await import('../../wiring/backups/backup-locations.ts')
    const lookup = { ...sourceOptions(globals, { from, temp: flags.temp }), dataDir: directory.path }
    const passphrases = passphraseSource(io, flags)
    const source = await locations
      .backupSource(to, lookup, passphrases)
      .catch((error: unknown) => withNearest(error, to, lookup, passphrases))
    const temporary = await makeLockedFolder('svc-rewind-', flags.temp)
    try {
      assertExact(source)
      const manifest = await source.manifest(await locations.backupNamed(source, to))
      const past = { source, manifest, scratch: temporary.path }
      const plan = await withProgress('Comparing', (job) => domain.rewind.plan(user, past, job))
      try {
        const at = source.at ?? Date.parse(manifest.created_at)
        const about = { username: plan.username, at: new Date(at).toISOString(), ...documentOf(plan.difference) }
        const state = `${plan.username} at ${formatTime(at, true)}`
        if (isEmpty(plan.difference)) {
          io.print(`The files and rows of ${state} are the present ones.`, { ...about, applied: false })
          return 0
        }
        // Exactly this state: `latest` is another backup once the present state is saved, and `14:05` another moment tomorrow.
        const named = source.at !== undefined ? iso(source.at) : locations.isArchiveName(to) ? to : manifest.id
        const words = ['rewind', '--user', plan.username, '--to', named, ...fromWords(flags), '--apply']
        const again = commandLine(globals, words)
        if (!flags.apply) {
          const text = `To return to the state of ${state}:\n\n${differenceText(plan.difference, io.paint)}\n\nNothing was changed.`
          io.print(`${text}\nNext: ${again}`, { ...about, applied: false })
          return 0
        }
        const place = flags.saveTo ?? (locations.isArchiveName(source.place) ? undefined : source.place)
        return await apply({ io, globals, domain, directory }, plan, { place, about, state, again })
      } finally {
        await plan.close()
      }
    } finally {
      await temporary.remove()
      await source.close()
    }
  },
})

const fromWords = ({ from, saveTo }: { from: string | undefined; saveTo: string | undefined }): string[] => [
  ...(from === undefined ? [] : ['--from', from]),
  ...(saveTo === undefined ? [] : ['--save-to', saveTo]),
]

/** An account that is gone cannot be rewound, but restored. */
function withHelp(error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string }
  if (code !== 'not_found') return error
  return new Exit(5, `${message} svc help wrong-deletion says how a removed account is restored.`, 'not_found')
}

interface Context {
  io: Io
  globals: Globals
  domain: Domain
  directory: DataDirectory
}

/** Backs up the present state. Returns the command that undoes the rewind. */
async function saved({ io, globals, domain, directory }: Context, username: string, place: string | undefined) {
  if (place === undefined)
    throw usage('An archive takes no second backup: give a folder for the present state, --save-to DIR.')
  const { backupTarget } = await import('../../wiring/backups/backup-locations.ts')
  const noPassphrase = passphraseSource(io, { passphraseFile: undefined, passphraseStdin: false })
  const target = await backupTarget(
    { domain, directory },
    { to: place, encrypt: false, startsOver: false },
    noPassphrase,
  )
  const { manifest, repaired } = await withProgress('Backing up', (job) =>
    (domain.backups as Backups).create(target, job),
  )
  if (manifest.missing.length > 0)
    io.warn(
      `${pluralize(manifest.missing.length, 'content')} of the present state could not be backed up: svc storage check names the files.`,
    )
  if (repaired > 0)
    io.warn(
      `${pluralize(repaired, 'damaged or missing object')} of earlier backups ${repaired === 1 ? 'was' : 'were'} stored again.`,
    )
  const words = ['rewind', '--user', username, '--to', manifest.id, '--from', target.place, '--apply']
  return { id: manifest.id, place: target.place, undo: commandLine(globals, words) }
}

async function apply(
  context: Context,
  plan: RewindPlan,
  { place, about, state, again }: { place: string | undefined; about: object; state: string; again: string },
): Promise<ExitCode> {
  const { io } = context
  const { id, place: savedIn, undo } = await saved(context, plan.username, place)
  io.info(`The present state is saved as backup ${id} in ${savedIn}.`)
  let failures: Failure[]
  try {
    failures = await withProgress('Rewinding', (job) => plan.execute(job))
  } catch (error) {
    io.warn(`The rewind is incomplete. To complete it: ${again}. To undo it: ${undo}.`)
    throw error
  }
  for (const { what, why } of failures) io.warn(printable(`${what} stays as it is: ${why}`))
  const text = `Returned to the state of ${state}:\n\n${differenceText(plan.difference, io.paint)}`
  const document = { ...about, applied: true, saved: { id, place: savedIn }, undo, failures }
  io.print(`${text}\n\nTo undo it: ${undo}`, document)
  return failures.length > 0 ? 3 : 0
}
