import { formatSize } from '../../base/sizes.ts'
import { makeLockedFolder } from '../../host/temporary-folder.ts'
import type { Verification } from '../../domain/backups/backups.ts'
import type { Local } from '../../wiring/local-domain.ts'
import { commandLine } from '../../base/shell-words.ts'
import { command, flag, type Globals } from '../command.ts'
import { dropText, restoreLine } from './backup-summary.ts'
import { pluralize } from '../../base/counts.ts'
import { BACKUP_NAMES, STREAM, passphraseSource, sourceFlags, sourceOptions } from '../backup-source.ts'
import { withProgress } from '../progress.ts'

/** Problems shown as text; `--json` lists all. */
const MAX_LISTED = 20

/** Files shown for one damaged content. */
const FILES = 5

/** What to do about damage, one command a line. */
function cures(
  globals: Globals,
  place: string,
  isArchive: boolean,
  { restorable, unreadable }: Verification,
): string[] {
  const restore = restorable.at(-1)
  const create = commandLine(globals, ['backup', 'create', '--to', place, '--recheck'])
  return [
    ...(isArchive ? [] : [`To store damaged objects again that the service still has: ${create}`]),
    ...(restore ? [`To restore what can be read: ${restoreLine(restore, place, isArchive, '--partial')}`] : []),
    ...(isArchive ? [] : unreadable.map((id) => dropText(globals, id, place))),
  ]
}

const filesLines = (files: readonly string[]): string[] => [
  ...files.slice(0, FILES).map((file) => `  ${file}`),
  ...(files.length > FILES ? [`  … and ${files.length - FILES} more`] : []),
]

const missingText = (backup: string, count: number): string =>
  `${backup}: ${pluralize(count, 'content')} could not be read when it was made, and ${count === 1 ? 'is' : 'are'} not in it. ` +
  'To name the files that the service has lost: svc storage check'

/** The last backup of the installation of this machine, if it is missing. Backups are also checked where there is none, or a broken one. */
async function missingIn(
  source: { place: string; ids(): Promise<string[]> },
  globals: Globals,
): Promise<string | undefined> {
  const { withInstallation } = await import('../../wiring/backups/backup-locations.ts')
  const find = async (local?: Local) => local?.domain.backups.missingBackup(source.place, () => source.ids())
  return withInstallation(sourceOptions(globals, { from: undefined }), find).catch(() => undefined)
}

export const verify = command({
  name: 'backup verify',
  summary: 'Read backups completely and check every byte',
  details:
    'Checks the hash of every object, the integrity of each database, its schema and its manifest, and names the ' +
    `files whose contents are damaged. Tests the passphrase if one is given. Exit code 1 when something is damaged, 3 when a backup lacks contents that were damaged before. ${BACKUP_NAMES}; all of ` +
    'them and the whole stream by default.',
  needs: 'nothing',
  args: { backup: { summary: 'backup', optional: true } },
  flags: { ...sourceFlags, temp: flag.text('folder for a temporary copy of one database at a time', 'DIR') },
  examples: [
    'svc backup verify',
    'svc backup verify latest',
    'svc backup verify svc.tar.age --passphrase-file secret.txt',
  ],
  async run({ io, globals, args, flags }) {
    const [{ backupNamed, backupSource, isArchiveName, lastMissingText }, { verify: check }] = await Promise.all([
      import('../../wiring/backups/backup-locations.ts'),
      import('../../domain/backups/backups.ts'),
    ])
    const source = await backupSource(args.backup, sourceOptions(globals, flags), passphraseSource(io, flags))
    const ids = args.backup === undefined ? await source.ids() : [await backupNamed(source, args.backup)]
    const temporary = await makeLockedFolder('svc-verify-', flags.temp)
    try {
      const found = await withProgress('Verifying', (job) => check(source, ids, temporary.path, job))
      const { problems, objects, bytes } = found
      const streamed = (args.backup === undefined && (await source.verifyStream?.())) || {
        problems: source.shortfall === undefined ? [] : [source.shortfall],
        records: 0,
        missing: 0,
      }
      const { problems: streamProblems, records } = streamed
      const missing = { ...found.missing, ...(streamed.missing > 0 && { [STREAM]: streamed.missing }) }
      const lost = args.backup === undefined ? await missingIn(source, globals) : undefined
      if (lost !== undefined) problems.push({ backups: [lost], what: lastMissingText(lost, source.place) })
      for (const what of streamProblems) problems.push({ backups: [STREAM], what })
      const moments = records > 0 ? `${pluralize(records, 'moment')} of a stream, ` : ''
      const read = `${moments}${pluralize(ids.length, 'backup')}, ${pluralize(objects, 'object')}, ${formatSize(bytes)}`
      const lines = problems
        .slice(0, MAX_LISTED)
        .flatMap(({ backups, what, used_by = [] }) => [`${backups.join(', ')}: ${what}`, ...filesLines(used_by)])
      if (problems.length > MAX_LISTED) lines.push(`… and ${problems.length - MAX_LISTED} more`)
      const document = {
        sound: problems.length === 0,
        backups: ids,
        objects,
        bytes,
        problems,
        missing,
        moments: records,
      }
      const summary =
        problems.length === 0
          ? `Verified ${read}: all intact.`
          : `Damaged: ${pluralize(problems.length, 'problem')} in ${read}.`
      const isCurable = problems.some(
        ({ what, backups: [id] }) => what !== source.problem && id !== STREAM && id !== lost,
      )
      const help = isCurable ? cures(globals, source.place, isArchiveName(source.place), found) : []
      if (lost !== undefined)
        help.push(`To create a new backup: ${commandLine(globals, ['backup', 'create', '--to', source.place])}`)
      io.print([...lines, summary, ...help].join('\n'), document)
      for (const [backup, count] of Object.entries(missing)) io.warn(missingText(backup, count))
      if (problems.length > 0) return 1
      return Object.keys(missing).length > 0 ? 3 : 0
    } finally {
      await temporary.remove()
      await source.close()
    }
  },
})
