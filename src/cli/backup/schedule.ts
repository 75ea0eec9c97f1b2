import { iso } from '../../base/clock.ts'
import type { Backups, Keep } from '../../domain/backups/backups.ts'
import { warnIfInside } from './inside-warning.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../time-format.ts'

export const schedule = command({
  name: 'backup schedule',
  summary: 'Show or change when the server makes backups',
  details:
    'WHEN has the five fields of cron: minute, hour, day of month, month, day of week, in the time ' +
    'zone of the server. After each backup old ones are removed: svc config set backup.keep_daily N and so ' +
    'on set how many are kept. A backup that was due while no server ran is made later.\n\n' +
    'In a restored installation the schedule is paused, so that a copy never writes to the backups of the original. resume ends that.',
  needs: 'domain',
  args: { when: { summary: "five fields such as '30 3 * * *', off, or resume", optional: true } },
  flags: { to: flag.text('folder or bucket of backups (the setting backup.to)', 'DIR') },
  examples: [
    'svc backup schedule',
    "svc backup schedule '30 3 * * *' --to /mnt/backup/svc",
    'svc backup schedule resume',
    'svc backup schedule off',
  ],
  async run({ io, domain, config, directory, args, flags }) {
    const { backups, instance } = domain
    if (args.when === undefined) {
      if (flags.to !== undefined) throw usage("Give the time too: svc backup schedule '30 3 * * *' --to DIR.")
      const { 'backup.schedule': when, 'backup.to': to } = await instance.settings.values()
      const shown = await stateOf(backups, when, to)
      io.print(shown.words, shown.document)
      return
    }
    const [{ changeSetting }, { isArchiveName, placeOf }] = await Promise.all([
      import('../../wiring/config/setting-change.ts'),
      import('../../wiring/backups/backup-locations.ts'),
    ])
    if (args.when === 'resume') {
      const { 'backup.schedule': when, 'backup.to': to } = await instance.settings.values()
      await backups.scheduled(when, to)
      const shown = await stateOf(backups, when, to)
      return io.print(shown.words, shown.document)
    }
    const isOff = /^\s*off\s*$/.test(args.when)
    const to = flags.to === undefined ? (await instance.settings.values())['backup.to'] : placeOf(flags.to)
    if (!isOff && to === '') throw usage('Give the folder: --to DIR.')
    if (isArchiveName(to)) throw usage('Scheduled backups go to a folder, not to an archive.')
    if (!isOff) await warnIfInside(io, to, directory)
    const place = { instance, config, directory }
    const changed = [await changeSetting(place, 'backup.schedule', args.when)]
    if (flags.to !== undefined) changed.push(await changeSetting(place, 'backup.to', to))
    for (const { overriddenBy } of changed)
      if (overriddenBy) io.warn(`${overriddenBy} sets another value and takes precedence.`)
    const { 'backup.schedule': when } = await instance.settings.values()
    await backups.scheduled(when, to)
    const shown = await stateOf(backups, when, to)
    io.print(shown.words, shown.document)
    if (!isOff && !(await backups.lastBackupIn(to))) await explainFirst(io, to)
  },
})

/** Says how the first backup in a place is made. Those that nobody recorded here are looked for, as after a restore. */
async function explainFirst(io: Io, to: string): Promise<void> {
  const { storedIds } = await import('../../wiring/stored-ids.ts')
  const { ids, problem } = await storedIds(to)
  if (problem !== undefined) return io.warn(`Whether ${to} contains backups is not known: ${problem}`)
  if (ids.length === 0)
    io.info(
      `There is no backup in ${to} yet: svc backup create makes the first, with --encrypt if others can read that disk.`,
    )
}

const keepText = ({ last, daily, weekly, monthly }: Keep): string =>
  `the last ${last}, then one of each of ${daily} days, ${weekly} weeks, ${monthly} months`

async function stateOf(backups: Backups, when: string, to: string) {
  const [next, last, failed] = [await backups.schedule.next(), await backups.lastBackup(), await backups.lastFailure()]
  const [proven, keep] = [await backups.lastProvenRestore(), await backups.keep()]
  const isPaused = when !== '' && (await backups.isPaused())
  const isInFuture = last !== undefined && (await backups.schedule.stateOf(last.at)) === 'future'
  const lines: [string, string][] = [
    ['Schedule', `${when || 'off'}${isPaused ? ', paused since the restore: svc backup schedule resume' : ''}`],
    ['To', to || 'not set'],
    ...(next === undefined ? [] : [['Next', formatTime(next)] as [string, string]]),
    ['Last', last ? `${last.id}, ${formatTime(last.at)}${isInFuture ? ', in the future: svc doctor' : ''}` : 'none'],
    ...(failed ? [['Failed', `${formatTime(failed.at)}: ${failed.message}`] as [string, string]] : []),
    ['Proven', proven ? `${proven.id}, ${formatTime(proven.at)}` : 'never: svc backup drill'],
    ['Keeps', keepText(keep)],
  ]
  return {
    words: lines.map(([label, text]) => `${label.padEnd(10)}${text}`).join('\n'),
    document: {
      schedule: when || null,
      paused: isPaused,
      to: to || null,
      next_at: next === undefined ? null : iso(next),
      last: last ? { ...last, at: iso(last.at) } : null,
      failed: failed ? { ...failed, at: iso(failed.at) } : null,
      proven: proven ? { ...proven, at: iso(proven.at) } : null,
      keep,
    },
  }
}
