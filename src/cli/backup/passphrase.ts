import type { Backups } from '../../domain/backups/backups.ts'
import { command, flag } from '../command.ts'
import { Exit, usage } from '../exit.ts'
import { passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'

export const passphrase = command({
  name: 'backup passphrase',
  summary: 'Change or test the passphrase of an encrypted folder of backups',
  details:
    'The old passphrase is needed only where the key is not kept. The machine that makes the backups keeps the key, so a forgotten ' +
    'passphrase can be replaced there. The backups themselves do not change. A copy of the folder made earlier can still be ' +
    'opened with the passphrase of that time.',
  needs: 'nothing',
  args: {},
  flags: {
    ...sourceFlags,
    check: flag.switch('only test the passphrase; change nothing'),
    newPassphraseFile: flag.text('read the new passphrase from a file', 'FILE'),
    newPassphraseStdin: flag.switch('read the new passphrase from standard input'),
  },
  examples: [
    'svc backup passphrase',
    'svc backup passphrase --check',
    'svc backup passphrase --from /mnt/backup/svc --passphrase-file old.txt --new-passphrase-file new.txt',
  ],
  async run({ io, globals, flags }) {
    const { newPassphraseFile, newPassphraseStdin, passphraseStdin } = flags
    if (flags.check && (newPassphraseFile !== undefined || newPassphraseStdin))
      throw usage('--check changes nothing: omit the new passphrase.')
    if (passphraseStdin && newPassphraseStdin) throw usage('Only one of the passphrases can come from standard input.')
    const [{ anotherPlace, backupFolder, withInstallation }, { changePassphrase }] = await Promise.all([
      import('../../wiring/backups/backup-locations.ts'),
      import('../../wiring/backups/passphrase-change.ts'),
    ])
    const lookup = sourceOptions(globals, flags)
    const passphrases = passphraseSource(io, flags)
    const folder = await backupFolder(lookup, flags.check ? { ...passphrases, isGiven: true } : passphrases)
    if (!folder.header.encrypted)
      throw new Exit(
        6,
        `The backups in ${folder.folder} are not encrypted. Encrypted ones need ${anotherPlace(folder.folder)}.`,
      )
    const ofOwn = (record: (backups: Backups) => Promise<void>) =>
      withInstallation(lookup, async (local) => {
        // Only backups of its own installation are recorded.
        if (local && local.domain.instance.identity.server_id === folder.header.server_id)
          await record(local.domain.backups)
      })
    if (flags.check) {
      await ofOwn((backups) => backups.passphraseGiven(folder.folder))
      return io.print(`The passphrase opens the backups in ${folder.folder}.`, { place: folder.folder, opens: true })
    }
    const given = { passphraseFile: newPassphraseFile, passphraseStdin: newPassphraseStdin }
    const chosen = passphraseSource(io, given, '--new-passphrase-file or --new-passphrase-stdin').chosen()
    await changePassphrase(folder, await chosen)
    await ofOwn((backups) => backups.rekeyed(folder.folder))
    io.print(`The backups in ${folder.folder} have a new passphrase. Store a copy of it elsewhere.`, {
      place: folder.folder,
    })
  },
})
