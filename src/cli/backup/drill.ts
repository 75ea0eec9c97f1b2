import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { contentText, documentOf } from './backup-summary.ts'
import { passphraseSource, sourceFlags, sourceOptions } from './backup-source.ts'
import { withProgress } from '../progress.ts'

export const drill = command({
  name: 'backup drill',
  summary: 'Prove that a backup can be restored: restore a copy, serve it, compare it, remove it',
  details:
    'Restores to a temporary folder, starts the server there for this machine only, and compares accounts, files ' +
    'and rows with what the backup says, and contents with their hashes. Nothing of it stays but the date, which ' +
    'svc doctor shows. BACKUP is an id, its beginning, an archive, or latest, which is the default.',
  needs: 'nothing',
  args: { backup: { summary: 'backup', optional: true } },
  flags: { ...sourceFlags, temp: flag.text('folder with enough space for all of it', 'DIR') },
  examples: ['svc backup drill', 'svc backup drill svc.tar.age --temp /srv/tmp --passphrase-file secret.txt'],
  async run({ io, globals, args, flags }) {
    const [{ backupNamed, backupSource, withInstallation }, wiring] = await Promise.all([
      import('../../wiring/backups/backup-locations.ts'),
      import('../../wiring/backups/drill.ts'),
    ])
    const name = args.backup ?? 'latest'
    const lookup = sourceOptions(globals, flags)
    const source = await backupSource(name, lookup, passphraseSource(io, flags))
    try {
      const id = await backupNamed(source, name)
      const result = await withProgress('Restoring', (job) => wiring.drill(source, id, flags.temp, job))
      const { manifest, problems, contents, rows, took_ms } = result
      if (problems.length === 0)
        await withInstallation(lookup, async (local) => {
          if (local?.domain.instance.identity.server_id === manifest.server_id)
            await local.domain.backups.proved(id, source.place)
        })
      const seconds = `${Math.max(1, Math.round(took_ms / 1_000))} s`
      const words =
        problems.length === 0
          ? `Proven: ${id} was restored and served in ${seconds}: ${contentText(manifest)}, ${pluralize(rows, 'row')}, all as they were; ${pluralize(contents, 'content')} compared.`
          : [...problems, `Not proven: ${pluralize(problems.length, 'problem')} in ${id}.`].join('\n')
      io.print(words, { proven: problems.length === 0, ...documentOf(manifest), rows, contents, took_ms, problems })
      return problems.length === 0 ? 0 : 1
    } finally {
      await source.close()
    }
  },
})
