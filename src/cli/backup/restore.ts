import { command, flag } from '../command.ts'
import { iso } from '../../base/clock.ts'
import { pluralize } from '../../base/counts.ts'
import { Exit, usage } from '../exit.ts'
import { contentText, documentOf } from './backup-summary.ts'
import { passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'
import type { Restored } from '../../wiring/backups/restore.ts'
import { withProgress } from '../progress.ts'
import { commandLine } from '../../base/shell-words.ts'
import { formatTime } from '../time-format.ts'

const holderLines = (contents: Restored['lost']['contents']): string[] =>
  contents.flatMap(({ sha256, used_by }) => (used_by.length > 0 ? used_by : [`content ${sha256}`]))

const missingLines = ({ missing }: Restored['lost']): string[] =>
  missing.length === 0
    ? []
    : [
        'Not in the backup, because the service could not read them when it was made:',
        ...holderLines(missing).map((line) => `  ${line}`),
      ]

function lostLines({ contents, files }: Restored['lost'], source: Source): string[] {
  if (contents.length + files.length === 0) return []
  const lines = holderLines(contents)
  const list = commandLine({}, ['backup', 'list', '--from', source.place])
  return [
    'Lost, because the backup is damaged:',
    ...[...files, ...lines].map((line) => `  ${line}`),
    source.isArchive
      ? 'An earlier backup may still have them.'
      : `An earlier backup may still have them, and svc backup extract restores them from it. To list the backups: ${list}`,
  ]
}

interface Source {
  place: string
  isArchive: boolean
}

/** The damage that stopped a restore, with what helps; any other error as it is. */
function withRemedy(error: unknown, backup: string, { place, isArchive }: Source, dataDir: string): unknown {
  if ((error as Error).name !== 'DamagedBackup') return error
  const { message, isDispensable } = error as Error & { isDispensable?: boolean }
  const named = isArchive ? [place] : [backup, '--from', place]
  const partial = commandLine({ dataDir }, ['backup', 'restore', ...named, '--partial'])
  const verify = commandLine({}, ['backup', 'verify', '--from', place])
  const remedy = isDispensable
    ? `To restore everything that can be read: ${partial}`
    : `Nothing can be restored without it${isArchive ? '.' : `, but an earlier backup may be intact. To see which: ${verify}`}`
  return new Exit(1, `${message} ${remedy}`, 'damaged')
}

export const restore = command({
  name: 'backup restore',
  summary: 'Restore a backup to a new data directory',
  details:
    '--data-dir names the new or empty folder. Everything is checked before the folder gets its name; until then ' +
    'it does not exist. A running service is not changed. BACKUP is an id, the beginning of one, latest, an archive, stream for the end of a stream, or a moment of it.\n\n' +
    'Sessions end and devices have to sign in again, unless --keep-devices is given: a token revoked after the backup ' +
    'would then work again.\n\n' +
    'A damaged or missing object stops the restore. With --partial everything else is restored: files whose ' +
    'contents are lost keep their names and are listed, and the command ends with 3. The database and the key must ' +
    'be intact.',
  needs: 'nothing',
  args: { backup: 'backup' },
  flags: {
    keepDevices: flag.switch('let devices stay signed in'),
    partial: flag.switch('restore what can be read when objects are damaged'),
    ...sourceFlags,
  },
  examples: [
    'svc backup restore latest --data-dir /srv/svc-new',
    'svc backup restore 20261121-0315 --from /mnt/backup/svc --data-dir /srv/svc',
    'svc backup restore svc.tar.age --data-dir /srv/svc',
    'svc backup restore "2026-11-26 14:05:07" --from /mnt/backup/svc --data-dir /srv/svc',
    'svc backup restore latest --partial --data-dir /srv/svc --json > restored.json',
  ],
  async run({ io, globals, args, flags }) {
    const target = globals.dataDir
    if (target === undefined) throw usage('Give the folder to restore to: --data-dir DIR, a new or empty folder.')
    const [{ backupNamed, backupSource, isArchiveName }, wiring] = await Promise.all([
      import('../../wiring/backups/backup-locations.ts'),
      import('../../wiring/backups/restore.ts'),
    ])
    // --data-dir is the directory to create; the settings come from the existing one.
    const lookup = { ...sourceOptions(globals, flags), dataDir: undefined }
    const source = await backupSource(args.backup, lookup, passphraseSource(io, flags))
    try {
      const id = await backupNamed(source, args.backup)
      const options = { target, keepDevices: flags.keepDevices, isPartial: flags.partial }
      const about = { place: source.place, isArchive: isArchiveName(source.place) }
      const restored = await withProgress('Restoring', (job) => wiring.restore(source, id, options, job)).catch(
        (error: unknown) => {
          throw withRemedy(error, args.backup, about, target)
        },
      )
      const { manifest, lost, devices, epoch } = restored
      const signedOut =
        devices === 0 ? '' : ` ${pluralize(devices, 'device')} ${devices === 1 ? 'has' : 'have'} to sign in again.`
      const what = source.at === undefined ? `${manifest.id} of ${formatTime(Date.parse(manifest.created_at))}: ` : ''
      const done = `Restored ${what}${contentText(manifest)} to ${restored.target}.${signedOut}`
      const there = { dataDir: restored.target }
      const resume = `Its scheduled backups are paused: ${commandLine(there, ['backup', 'schedule', 'resume'])}`
      if (source.shortfall !== undefined) io.warn(source.shortfall)
      const moment = source.at === undefined ? [] : [`It is the state of ${formatTime(source.at, true)}.`]
      const next = `Next: ${commandLine(there, ['serve'])}`
      const streamed = source.at === undefined ? {} : { at: iso(source.at), shortfall: source.shortfall ?? null }
      const document = {
        ...documentOf(manifest),
        ...streamed,
        data_dir: restored.target,
        epoch,
        devices_ended: devices,
        lost,
      }
      io.print(
        [
          done,
          ...moment,
          ...missingLines(lost),
          ...lostLines(lost, about),
          ...(restored.isScheduled ? [resume] : []),
          next,
        ].join('\n'),
        document,
      )
      const isWhole = Object.values(lost).every((items) => items.length === 0)
      return !isWhole || source.shortfall !== undefined ? 3 : 0
    } finally {
      await source.close()
    }
  },
})
