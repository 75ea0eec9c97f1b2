import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { usage } from '../exit.ts'
import { contentText, documentOf } from './manifest.ts'
import { passphraseSource, sourceFlags, sourceOptions } from './backup-source.ts'
import { withProgress } from '../progress.ts'

export const restore = command({
  name: 'backup restore',
  summary: 'Restore a backup to a new data directory',
  details:
    '--data-dir names the new or empty folder. Everything is checked before it gets its name, and until then ' +
    'nothing is there; what is served now stays as it is. BACKUP is an id, its beginning, latest, or an archive.\n\n' +
    'Sessions end and devices sign in anew, unless --keep-devices is given: a token revoked after the backup ' +
    'would work again.',
  needs: 'nothing',
  args: { backup: 'backup' },
  flags: { keepDevices: flag.switch('let devices stay signed in'), ...sourceFlags },
  examples: [
    'svc backup restore latest --data-dir /srv/svc-new',
    'svc backup restore 20261121-0315 --from /mnt/backup/svc --data-dir /srv/svc',
    'svc backup restore svc.tar.age --data-dir /srv/svc',
  ],
  async run({ io, globals, args, flags }) {
    const target = globals.dataDir
    if (target === undefined) throw usage('Say where to restore to: --data-dir DIR, a new or empty folder.')
    const [{ backupNamed, backupSource }, wiring] = await Promise.all([
      import('../../wiring/backup-places.ts'),
      import('../../wiring/restore.ts'),
    ])
    // --data-dir is what is to be made; the settings are those of the data directory there is.
    const lookup = { ...sourceOptions(globals, flags), dataDir: undefined }
    const source = await backupSource(args.backup, lookup, passphraseSource(io, flags))
    try {
      const id = await backupNamed(source, args.backup)
      const options = { target, keepDevices: flags.keepDevices }
      const restored = await withProgress('Restoring', (job) => wiring.restore(source, id, options, job))
      const { manifest, devices, epoch } = restored
      const signedOut =
        devices === 0 ? '' : ` ${pluralize(devices, 'device')} ${devices === 1 ? 'has' : 'have'} to sign in anew.`
      const words = `Restored ${contentText(manifest)} to ${restored.target}.${signedOut}\nNext: svc serve --data-dir ${restored.target}`
      io.print(words, { ...documentOf(manifest), data_dir: restored.target, epoch, devices_ended: devices })
    } finally {
      await source.close()
    }
  },
})
