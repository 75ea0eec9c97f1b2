import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { passphraseSource, sourceFlags, sourceOptions } from './backup-source.ts'

export const passphrase = command({
  name: 'backup passphrase',
  summary: 'Give an encrypted folder of backups another passphrase',
  details:
    'The passphrase before is needed only where no key is kept: the machine whose backups these are keeps it, and there ' +
    'a forgotten passphrase is replaced. The backups stay as they are. Whoever copied the folder earlier can still ' +
    'open that copy with the passphrase of then.',
  needs: 'nothing',
  args: {},
  flags: {
    ...sourceFlags,
    newPassphraseFile: flag.text('read the new passphrase from a file', 'FILE'),
    newPassphraseStdin: flag.switch('read the new passphrase from standard input'),
  },
  examples: [
    'svc backup passphrase',
    'svc backup passphrase --from /mnt/backup/svc --passphrase-file old.txt --new-passphrase-file new.txt',
  ],
  async run({ io, globals, flags }) {
    const { newPassphraseFile, newPassphraseStdin, passphraseStdin } = flags
    if (passphraseStdin && newPassphraseStdin) throw usage('Only one of the passphrases can come from standard input.')
    const [{ backupFolder, withInstallation }, { changePassphrase }] = await Promise.all([
      import('../../wiring/backup-places.ts'),
      import('../../wiring/backup-passphrase.ts'),
    ])
    const lookup = sourceOptions(globals, flags)
    const folder = await backupFolder(lookup, passphraseSource(io, flags))
    if (!folder.header.encrypted)
      throw new Exit(6, `The backups in ${folder.folder} are not encrypted: begin an encrypted folder beside them.`)
    const given = { passphraseFile: newPassphraseFile, passphraseStdin: newPassphraseStdin }
    const chosen = passphraseSource(io, given, '--new-passphrase-file or --new-passphrase-stdin').chosen()
    await changePassphrase(folder, await chosen)
    await withInstallation(lookup, async (local) => {
      // The log of an installation tells of its own backups only.
      if (local?.domain.instance.identity.server_id === folder.header.server_id)
        await local.domain.backups.rekeyed(folder.folder)
    })
    io.print(`The backups in ${folder.folder} have another passphrase. Keep it somewhere else too.`, {
      place: folder.folder,
    })
  },
})
