import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { commandLine } from '../../base/shell-words.ts'
import { contentText, documentOf } from './backup-summary.ts'
import { passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'
import { withProgress } from '../progress.ts'

export const drill = command({
  name: 'backup drill',
  summary: 'Test that a backup can be restored: restore a copy, serve it, compare it, remove it',
  details:
    'Restores to a temporary folder, starts the server there for this machine only, and compares accounts, files ' +
    'and rows with what the backup says, and contents with their hashes. Only the date is kept; svc doctor ' +
    'shows it. BACKUP is an id, its beginning, an archive, stream, a moment of a stream, or latest, which is the default. Where the key of encrypted ' +
    'backups is kept, the passphrase is asked for once in 90 days; without a terminal, the command ends with 3 until it is tested.',
  needs: 'nothing',
  args: { backup: { summary: 'backup', optional: true } },
  flags: { ...sourceFlags, temp: flag.text('folder with enough space for all of it', 'DIR') },
  examples: ['svc backup drill', 'svc backup drill svc.tar.age --temp /srv/tmp --passphrase-file secret.txt'],
  async run({ io, globals, args, flags }) {
    const [{ backupNamed, backupSource, isArchiveName, placeOf, withInstallation }, wiring] = await Promise.all([
      import('../../wiring/backups/backup-locations.ts'),
      import('../../wiring/backups/drill.ts'),
    ])
    const name = args.backup ?? 'latest'
    const lookup = sourceOptions(globals, flags)
    const given = passphraseSource(io, flags)
    const untested = await withInstallation(lookup, async (local) => {
      const place = flags.from ?? (await local?.domain.instance.settings.values())?.['backup.to']
      return place && (await local?.domain.backups.isPassphraseDue(placeOf(place))) ? placeOf(place) : undefined
    })
    const isAsked = untested !== undefined && io.interactive
    if (isAsked) io.info('Once in 90 days, a drill asks for the passphrase.')
    const source = await backupSource(name, lookup, { ...given, isGiven: given.isGiven || isAsked })
    try {
      const id = await backupNamed(source, name)
      const result = await withProgress('Restoring', (job) => wiring.drill(source, id, flags.temp, job))
      const { manifest, problems, contents, rows, took_ms } = result
      if (problems.length === 0)
        await withInstallation(lookup, async (local) => {
          if (local?.domain.instance.identity.server_id !== manifest.server_id) return
          if (given.wasUsed() && !isArchiveName(source.place)) await local.domain.backups.passphraseGiven(source.place)
          await local.domain.backups.proved(id, source.place)
        })
      const isStillUntested = untested === source.place && !given.wasUsed()
      if (isStillUntested)
        io.warn(
          `The passphrase of these backups was not tested within the last 90 days. To test it: ${commandLine(globals, ['backup', 'passphrase', '--check', '--from', source.place])}`,
        )
      const seconds = `${Math.max(1, Math.round(took_ms / 1_000))} s`
      const words =
        problems.length === 0
          ? `Proven: ${id} was restored and served in ${seconds}: ${contentText(manifest)}, ${pluralize(rows, 'row')}, all as they were; ${pluralize(contents, 'content')} compared.`
          : [...problems, `Not proven: ${pluralize(problems.length, 'problem')} in ${id}.`].join('\n')
      io.print(words, { proven: problems.length === 0, ...documentOf(manifest), rows, contents, took_ms, problems })
      if (source.shortfall !== undefined) io.warn(source.shortfall)
      if (problems.length > 0) return 1
      return isStillUntested || source.shortfall !== undefined ? 3 : 0
    } finally {
      await source.close()
    }
  },
})
