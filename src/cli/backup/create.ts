import { formatSize } from '../../base/sizes.ts'
import type { Backups, Created } from '../../domain/backups/backups.ts'
import type { Passphrases, Seeking } from '../../wiring/backup-places.ts'
import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { usage } from '../exit.ts'
import { contentText, documentOf } from './manifest.ts'
import { passphraseFlags, passphraseSource, sourceOptions } from './backup-source.ts'
import { withProgress } from '../progress.ts'

export const create = command({
  name: 'backup create',
  summary: 'Back up database, contents, keys and configuration',
  details:
    'The server may run meanwhile: the backup shows one moment. In a folder, only what is new since the last ' +
    'backup is copied (--json says `unchanged` where nothing had to be read again), and one that was interrupted is ' +
    'continued; a name that ends in .tar or .tar.age is an archive of its own.\n\n' +
    'With --encrypt the first backup in a folder asks for a passphrase; later ones need none on this machine, ' +
    'which keeps the key in its data directory. Restoring elsewhere needs the passphrase: keep it somewhere else ' +
    'too. Without encryption whoever reads a backup reads everything, keys included.',
  needs: 'backing',
  args: {},
  flags: {
    to: flag.text('folder, or an archive: FILE.tar, FILE.tar.age (the setting backup.to)', 'DIR|FILE'),
    encrypt: flag.switch('encrypt a new folder of backups with a passphrase'),
    ...passphraseFlags,
    prune: flag.switch('then remove what the settings keep no longer'),
    new: flag.switch('begin anew where earlier backups are gone'),
  },
  examples: [
    'svc backup create --to /mnt/backup/svc',
    'svc backup create --to /mnt/backup/svc --encrypt --passphrase-file secret.txt',
    'svc backup create --to svc.tar.age',
  ],
  async run({ io, globals, domain, directory, flags }) {
    const to = flags.to ?? ((await domain.instance.settings.values())['backup.to'] || undefined)
    if (to === undefined) throw usage('Say where to: --to DIR or --to FILE.tar, or svc config set backup.to DIR.')
    const { backupTarget, isArchiveName } = await import('../../wiring/backup-places.ts')
    if (flags.prune && isArchiveName(to)) throw usage('An archive is one backup: --prune is for folders.')
    const passphrases = passphraseSource(io, flags)
    const options = { to, encrypt: flags.encrypt, anew: flags.new }
    const target = await backupTarget({ domain, directory }, options, passphrases)
    const created = await withProgress('Backing up', (job) => domain.backups.create(target, job))
    const { manifest, place, encrypted, took_ms, unchanged } = created
    const lost = manifest.missing.length
    if (lost > 0)
      io.warn(
        `${pluralize(lost, 'content')} ${lost === 1 ? 'is' : 'are'} missing or damaged, and not in this backup: svc storage check names the files.`,
      )
    const lookup = { ...sourceOptions(globals, { from: place }), dataDir: directory.path }
    const removed = flags.prune ? await pruneAfter(domain.backups, lookup, passphrases) : undefined
    const words = [summaryOf(created), ...(removed ? [`Removed ${pluralize(removed.length, 'old backup')}.`] : [])]
    io.print(words.join('\n'), {
      ...documentOf(manifest),
      place,
      encrypted,
      took_ms,
      unchanged,
      ...(removed && { removed }),
    })
    return lost > 0 ? 3 : 0
  },
})

/** Removes what the settings keep no longer; returns the ids. */
async function pruneAfter(backups: Backups, lookup: Seeking, passphrases: Passphrases): Promise<string[]> {
  const [{ backupFolder }, { openPruning }] = await Promise.all([
    import('../../wiring/backup-places.ts'),
    import('../../wiring/prune.ts'),
  ])
  const folder = await backupFolder(lookup, passphrases)
  const pruning = await openPruning(folder, await backups.keep())
  try {
    await pruning.execute()
    const gone = pruning.decisions.filter(({ reasons }) => reasons.length === 0).map(({ id }) => id)
    if (gone.length > 0) await backups.pruned(gone, folder.folder)
    return gone
  } finally {
    await pruning.release()
  }
}

function summaryOf({ manifest, took_ms }: Created): string {
  const seconds = took_ms < 1_000 ? 'less than a second' : `${Math.round(took_ms / 1_000)} s`
  const fresh = manifest.added.bytes === manifest.totals.bytes ? '' : ` (${formatSize(manifest.added.bytes)} new)`
  return `Backed up ${contentText(manifest)}${fresh} in ${seconds}: ${manifest.id}`
}
