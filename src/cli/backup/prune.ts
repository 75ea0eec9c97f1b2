import { formatSize } from '../../base/sizes.ts'
import { cancelled, command, flag } from '../command.ts'
import { pluralize } from '../../base/counts.ts'
import { damageText } from './backup-summary.ts'
import { passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'

const keepFlag = (summary: string) => flag.integer(summary, 'N', 0, 10_000)

export const prune = command({
  name: 'backup prune',
  summary: 'Remove old backups, and the data that only they needed',
  details:
    'Keeps the last backups, and the newest of each of the last days, weeks and months that have one. The ' +
    'newest backup is always kept. A backup dated in the future is kept, and displaces no other. While the manifest of a kept ' +
    'backup is damaged, no data is removed, because that backup may need it: --drop removes the backup. Each option ' +
    'replaces the setting of its name (backup.keep_daily and so on). No backup can be created while it removes something.',
  needs: 'nothing',
  args: {},
  flags: {
    keepLast: keepFlag('newest backups to keep (3)'),
    keepDaily: keepFlag('days to keep one backup of (7)'),
    keepWeekly: keepFlag('weeks to keep one backup of (4)'),
    keepMonthly: keepFlag('months to keep one backup of (12)'),
    streamDays: flag.integer('also remove what a stream stored before so many days', 'N', 1, 3_650),
    drop: flag.text('also remove this backup, for example a damaged one', 'BACKUP'),
    dryRun: flag.switch('show what would be removed, and change nothing'),
    yes: flag.yes,
    ...sourceFlags,
  },
  examples: [
    'svc backup prune --dry-run',
    'svc backup prune --keep-daily 14 --keep-monthly 6 --yes',
    'svc backup prune --from s3://svc-backups --stream-days 7 --yes',
    'svc backup prune --drop 20261121-031500-a1b2',
  ],
  async run({ io, globals, flags }) {
    const [{ backupFolder, withInstallation }, { planRemoval }, { defaultRetention: standardKeep }] = await Promise.all(
      [
        import('../../wiring/backups/backup-locations.ts'),
        import('../../wiring/backups/pruning.ts'),
        import('../../domain/backups/backups.ts'),
      ],
    )
    const lookup = sourceOptions(globals, flags)
    const folder = await backupFolder(lookup, passphraseSource(io, flags))
    return withInstallation(lookup, async (local) => {
      const standard = (await local?.domain.backups.keep()) ?? standardKeep
      const keep = {
        last: flags.keepLast ?? standard.last,
        daily: flags.keepDaily ?? standard.daily,
        weekly: flags.keepWeekly ?? standard.weekly,
        monthly: flags.keepMonthly ?? standard.monthly,
      }
      const pruning = await planRemoval(folder, keep, flags)
      const { decisions, damaged, objects, bytes, chapters } = pruning
      const problem = damageText(globals, damaged, folder.folder)
      if (problem !== undefined) io.warn(problem)
      const code = problem === undefined ? 0 : 3
      const gone = decisions.filter(({ reasons }) => reasons.length === 0).map(({ id }) => id)
      const document = {
        kept: decisions.filter(({ reasons }) => reasons.length > 0),
        removed: gone,
        objects,
        bytes,
        damaged,
        chapters,
      }
      const parts = chapters.length > 0 ? `, ${pluralize(chapters.length, 'old part')} of the stream` : ''
      const size = `${pluralize(gone.length, 'backup')}${parts} and ${pluralize(objects, 'object')} with ${formatSize(bytes)}`
      const lines = decisions.map(({ id, reasons }) =>
        reasons.length > 0 ? `keep    ${id}  ${reasons.join(', ')}` : `remove  ${id}`,
      )
      if (flags.dryRun) {
        io.print([...lines, `Would remove ${size}.`].join('\n'), { ...document, dry_run: true })
        return code
      }
      if (gone.length + objects + chapters.length === 0) {
        io.print('There is nothing to remove.', { ...document, dry_run: false })
        return code
      }
      if (!flags.yes) {
        if (io.interactive) io.info(lines.join('\n'))
        if (!(await io.confirm(`Remove ${size}?`))) throw cancelled()
      }
      await pruning.execute()
      // The audit log records only backups of its own installation.
      if (local && local.domain.instance.identity.server_id === folder.header.server_id && gone.length > 0)
        await local.domain.backups.pruned(gone, folder.folder)
      io.print(`Removed ${size}; ${pluralize(document.kept.length, 'backup')} left.`, { ...document, dry_run: false })
      return code
    })
  },
})
