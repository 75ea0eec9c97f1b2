import { formatSize } from '../../base/sizes.ts'
import type { Created } from '../../domain/backups/backups.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { contentText, documentOf, many } from './manifest.ts'
import { passphraseFlags, passphrasesOf } from './seeking.ts'
import { working } from './working.ts'

export const create = command({
  name: 'backup create',
  summary: 'Back up database, contents, keys and configuration',
  details: `The server may run meanwhile: the backup shows one moment. In a folder, only what is new since the last backup is
copied, and one that was interrupted is continued; a name that ends in .tar or .tar.age is an archive of its own.

With --encrypt the first backup in a folder asks for a passphrase; later ones need none on this machine, which keeps the
key in its data directory. Restoring elsewhere needs the passphrase: keep it somewhere else too. Without encryption whoever
reads a backup reads everything, keys included.`,
  needs: 'domain',
  args: {},
  flags: {
    to: flag.text('folder, or an archive: FILE.tar, FILE.tar.age (the setting backup.to)', 'DIR|FILE'),
    encrypt: flag.switch('encrypt a new folder of backups with a passphrase'),
    ...passphraseFlags,
    new: flag.switch('begin anew where earlier backups are gone'),
  },
  examples: [
    'svc backup create --to /mnt/backup/svc',
    'svc backup create --to /mnt/backup/svc --encrypt --passphrase-file secret.txt',
    'svc backup create --to svc.tar.age',
  ],
  async run({ io, domain, directory, flags }) {
    const to = flags.to ?? ((await domain.instance.settings.values())['backup.to'] || undefined)
    if (to === undefined) throw usage('Say where to: --to DIR or --to FILE.tar, or svc config set backup.to DIR.')
    const { backupTarget } = await import('../../wiring/backup-places.ts')
    const wish = { to, encrypt: flags.encrypt, anew: flags.new }
    const target = await backupTarget({ domain, directory }, wish, passphrasesOf(io, flags))
    const created = await working('Backing up', (doing) => domain.backups.create(target, doing))
    const { manifest, place, encrypted, took_ms } = created
    const lost = manifest.missing.length
    if (lost > 0)
      io.warn(`${many(lost, 'content')} named in the database ${lost === 1 ? 'is' : 'are'} gone from the blob store.`)
    io.say(summaryOf(created), { ...documentOf(manifest), place, encrypted, took_ms })
    return lost > 0 ? 3 : 0
  },
})

function summaryOf({ manifest, took_ms }: Created): string {
  const seconds = took_ms < 1_000 ? 'less than a second' : `${Math.round(took_ms / 1_000)} s`
  const fresh = manifest.added.bytes === manifest.totals.bytes ? '' : ` (${formatSize(manifest.added.bytes)} new)`
  return `Backed up ${contentText(manifest)}${fresh} in ${seconds}: ${manifest.id}`
}
