import { formatSize } from '../../base/sizes.ts'
import type { Backups, Created } from '../../domain/backups/backups.ts'
import type { Passphrases, Seeking } from '../../wiring/backups/backup-locations.ts'
import { warnIfInside } from './inside-warning.ts'
import { command, flag, type Globals } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { problemText } from '../../base/errors.ts'
import { commandLine } from '../../base/shell-words.ts'
import { exitCodeOf, usage } from '../exit.ts'
import { errorMessage } from '../error-message.ts'
import { contentText, damageText, documentOf } from './backup-summary.ts'
import { passphraseFlags, passphraseSource, sourceOptions } from '../backup-source.ts'
import { withProgress } from '../progress.ts'

export const create = command({
  name: 'backup create',
  summary: 'Back up database, contents, keys and configuration',
  details:
    'The server may keep running: the backup shows one point in time. In a folder, only what is new since the last ' +
    'backup is copied (--json says `unchanged` where nothing had to be read again), and an interrupted backup is ' +
    'continued. A name that ends in .tar or .tar.age is a self-contained archive, and s3://BUCKET/PREFIX an S3 bucket, whose key is in the environment ' +
    '(BACKUP_AWS_ACCESS_KEY_ID and BACKUP_AWS_SECRET_ACCESS_KEY, else AWS_…). In a folder, every object that is used again is ' +
    'read once within 30 days (with --recheck, at once). A damaged or missing one is stored again, and the command ends with 3.\n\n' +
    'With --encrypt the first backup in a folder asks for a passphrase. Later ones need none on this machine, ' +
    'which keeps the key in its data directory. Restoring on another machine needs the passphrase: store a copy of it ' +
    'elsewhere. Without encryption, anybody who can read a backup can read everything in it, including the keys.',
  needs: 'backup',
  args: {},
  flags: {
    to: flag.text('folder, bucket (s3://…), or an archive: FILE.tar, FILE.tar.age (the setting backup.to)', 'DIR|FILE'),
    encrypt: flag.switch('encrypt a new folder of backups with a passphrase'),
    ...passphraseFlags,
    prune: flag.switch('then remove backups that the settings no longer keep'),
    recheck: flag.switch('read every object that is used again, and store damaged ones again'),
    new: flag.switch('start over where earlier backups are gone'),
  },
  examples: [
    'svc backup create --to /mnt/backup/svc',
    'svc backup create --to /mnt/backup/svc --encrypt --passphrase-file secret.txt',
    'svc backup create --to svc.tar.age',
    "svc backup create --to 's3://svc-backups/cloud?region=eu-central-1' --encrypt",
    'svc backup create --recheck',
  ],
  async run({ io, globals, domain, directory, flags }) {
    const to = flags.to ?? ((await domain.instance.settings.values())['backup.to'] || undefined)
    if (to === undefined) throw usage('Give a destination: --to DIR or --to FILE.tar, or svc config set backup.to DIR.')
    const { backupTarget, isArchiveName, isBucket } = await import('../../wiring/backups/backup-locations.ts')
    if (flags.prune && isArchiveName(to)) throw usage('An archive is one backup: --prune is for folders.')
    await warnIfInside(io, to, directory)
    const passphrases = passphraseSource(io, flags)
    const options = { to, encrypt: flags.encrypt, startsOver: flags.new, recheck: flags.recheck }
    const target = await backupTarget({ domain, directory }, options, passphrases).catch(async (error: unknown) => {
      // Afterwards, creating a backup records by itself why it failed.
      await recordFailure(domain.backups, error, to)
      throw error
    })
    const created = await withProgress('Backing up', (job) => domain.backups.create(target, job))
    if (passphrases.wasUsed() && !isArchiveName(to)) await domain.backups.passphraseGiven(target.place)
    const { manifest, place, encrypted, took_ms, repaired, unchanged } = created
    const lost = manifest.missing.length
    if (lost > 0)
      io.warn(
        `${pluralize(lost, 'content')} ${lost === 1 ? 'is' : 'are'} missing or damaged, and not in this backup: svc storage check names the files.`,
      )
    if (repaired > 0)
      io.warn(
        `Stored ${pluralize(repaired, 'damaged or missing object')} of earlier backups again. ${isBucket(place) ? 'To look for more damage' : 'Check the disk. To look for more damage'}: ${commandLine(globals, ['backup', 'verify', '--from', place])}`,
      )
    const lookup = { ...sourceOptions(globals, { from: place }), dataDir: directory.path }
    const pruned = flags.prune ? await pruneAfter({ globals, backups: domain.backups }, lookup, passphrases) : undefined
    if (pruned?.denied !== undefined) io.info(`Old backups stay. ${pruned.denied}`)
    const removed = pruned?.removed
    const problem = [created.problem, pruned?.problem].filter((text) => text !== undefined).join(' ') || undefined
    if (problem !== undefined) io.warn(problem)
    const words = [summaryOf(created), ...(removed ? [`Removed ${pluralize(removed.length, 'old backup')}.`] : [])]
    io.print(words.join('\n'), {
      ...documentOf(manifest),
      place,
      encrypted,
      took_ms,
      unchanged,
      repaired,
      ...(problem !== undefined && { problem }),
      ...(removed && { removed }),
    })
    return lost + repaired > 0 || problem !== undefined ? 3 : 0
  },
})

/** Records that no backup could begin; a wrong command line or Ctrl-C is no failure. */
async function recordFailure(backups: Backups, error: unknown, to: string): Promise<void> {
  const code = exitCodeOf(error)
  if (code === 2 || code > 128) return
  // The first error is reported, whatever prevents the record.
  await backups.failed(problemText(error), to).catch(() => undefined)
}

/** Applies the retention settings; returns the IDs of removed backups, or what prevented it. */
async function pruneAfter(
  { globals, backups }: { globals: Globals; backups: Backups },
  lookup: Seeking,
  passphrases: Passphrases,
): Promise<{ removed: string[]; problem?: string | undefined; denied?: string }> {
  const removed: string[] = []
  try {
    const [{ backupFolder }, { planRemoval }] = await Promise.all([
      import('../../wiring/backups/backup-locations.ts'),
      import('../../wiring/backups/pruning.ts'),
    ])
    const folder = await backupFolder(lookup, passphrases)
    const pruning = await planRemoval(folder, await backups.keep())
    await pruning.execute()
    removed.push(...pruning.decisions.filter(({ reasons }) => reasons.length === 0).map(({ id }) => id))
    if (removed.length > 0) await backups.pruned(removed, folder.folder)
    return { removed, problem: damageText(globals, pruning.damaged, folder.folder) }
  } catch (error) {
    // A bucket that lets nobody on this machine remove backups is meant to.
    if ((error as Error).name === 'RemovalDenied') return { removed, denied: errorMessage(error) }
    return { removed, problem: `This backup is stored, but old ones were not removed: ${errorMessage(error)}` }
  }
}

function summaryOf({ manifest, took_ms }: Created): string {
  const seconds = took_ms < 1_000 ? 'less than a second' : `${Math.round(took_ms / 1_000)} s`
  const fresh = manifest.added.bytes === manifest.totals.bytes ? '' : ` (${formatSize(manifest.added.bytes)} new)`
  return `Backed up ${contentText(manifest)}${fresh} in ${seconds}: ${manifest.id}`
}
