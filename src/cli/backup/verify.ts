import { formatSize } from '../../base/sizes.ts'
import { makeTemporaryFolder } from '../../host/temporary-folder.ts'
import { command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { passphraseSource, sourceFlags, sourceOptions } from './backup-source.ts'
import { withProgress } from '../progress.ts'

/** Problems that people are shown; `--json` has all. */
const SHOWN = 20

export const verify = command({
  name: 'backup verify',
  summary: 'Read backups from end to end and compare every byte with what it must be',
  details:
    'Checks the hash of every object, and each database by its own checks, the schema of svc and its manifest. ' +
    'Ends with 1 when something is broken. BACKUP is an id, its beginning, latest, or an archive; all of them by ' +
    'default.',
  needs: 'nothing',
  args: { backup: { summary: 'backup', optional: true } },
  flags: { ...sourceFlags, temp: flag.text('folder for one database at a time', 'DIR') },
  examples: [
    'svc backup verify',
    'svc backup verify latest',
    'svc backup verify svc.tar.age --passphrase-file secret.txt',
  ],
  async run({ io, globals, args, flags }) {
    const [{ backupNamed, backupSource }, { verify: check }] = await Promise.all([
      import('../../wiring/backup-places.ts'),
      import('../../domain/backups/backups.ts'),
    ])
    const source = await backupSource(args.backup, sourceOptions(globals, flags), passphraseSource(io, flags))
    const ids = args.backup === undefined ? await source.ids() : [await backupNamed(source, args.backup)]
    const temporary = await makeTemporaryFolder('svc-verify-', flags.temp)
    try {
      const { problems, objects, bytes } = await withProgress('Verifying', (job) =>
        check(source, ids, temporary.path, job),
      )
      const read = `${pluralize(ids.length, 'backup')}, ${pluralize(objects, 'object')}, ${formatSize(bytes)}`
      const lines = problems.slice(0, SHOWN).map(({ backups, what }) => `${backups.join(', ')}: ${what}`)
      if (problems.length > SHOWN) lines.push(`… and ${problems.length - SHOWN} more`)
      const summary =
        problems.length === 0
          ? `Verified ${read}: all sound.`
          : `Broken: ${pluralize(problems.length, 'problem')} in ${read}.`
      io.print([...lines, summary].join('\n'), { sound: problems.length === 0, backups: ids, objects, bytes, problems })
      return problems.length === 0 ? 0 : 1
    } finally {
      await temporary.remove()
      await source.close()
    }
  },
})
