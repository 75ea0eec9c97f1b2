import { readFile } from 'node:fs/promises'
import { pluralize } from '../../base/counts.ts'
import { printable } from '../../base/text.ts'
import { exchangeNames, exchangeOf, isExchange, loadExchange } from '../../client/rows/file-formats.ts'
import type { Candidate, Left, RowFormat } from '../../client/rows/row-files.ts'
import { command, flag } from '../command.ts'
import { Exit, usage, type ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'
import { makeProgress } from '../progress.ts'
import { calendarFlag, calendarUid } from './calendar-flag.ts'
import { connectionFlags, withRows, type ChangeResult } from './row-access.ts'
import { refusalOf } from './change-result.ts'

/** Most rows with problems shown. */
const MAX_LISTED = 20

export const importRows = command({
  name: 'data import',
  summary: 'Add the rows of a file: JSON, JSON lines, CSV, iCalendar, vCard or bookmarks of a browser',
  details:
    'Every row is checked before any is sent, and one that is not valid stops the import; with --skip-invalid the others are imported. Rows are added as new ones; with --update a row with an id changes the existing row. ' +
    'Running the same import again within 30 days adds nothing twice, so an interrupted import can be repeated; --again adds the rows once more. ' +
    'An event of an iCalendar file or a contact of a vCard file whose UID you have already is updated. ' +
    'With --calendar its events belong to that calendar, which is added if there is none.',
  needs: 'server',
  args: { table: 'table; svc_ may be left out', file: 'file, or - for standard input' },
  flags: {
    format: flag.choice('format of the file, if it cannot be seen from the content', 'FORMAT', [
      'json',
      'jsonl',
      'csv',
      ...exchangeNames,
    ]),
    calendar: calendarFlag('put the events of an iCalendar file into this calendar, by its name or uid'),
    update: flag.switch('change the rows whose id the file names'),
    raw: flag.switch('CSV: keep leading apostrophes, as svc data export --raw writes them'),
    skipInvalid: flag.switch('import the other rows of a file that has some that are not valid; exit code 3'),
    again: flag.switch('add rows again that were imported before'),
    dryRun: flag.switch('only check the file'),
    ...connectionFlags,
  },
  examples: [
    'svc data import notes notes.csv',
    'svc data import finance - --format jsonl < rows.jsonl',
    'svc data import tasks tasks.json --dry-run',
    'svc data import events calendar.ics',
    'svc data import events team.ics --calendar Team',
    'svc data import contacts people.vcf',
    'svc data import bookmarks bookmarks.html',
  ],
  async run(context): Promise<ExitCode | void> {
    const { io, args, flags } = context
    const { writableTable } = await import('../../client/rows/row-values.ts')
    const { readCandidates } = await import('../../client/rows/row-files.ts')
    const { changesOf } = await import('../../client/rows/row-import.ts')
    const table = writableTable(args.table)
    const fileName = args.file === '-' ? 'Standard input' : printable(args.file)
    const text = await readText(io, args.file)
    const format = flags.format ?? exchangeOf(text)
    assertCalendarFlag(flags.calendar, format === 'ics')
    const exchange = isExchange(format) ? await loadExchange(format, table, 'read') : undefined
    const { candidates: all, left } = exchange
      ? exchange.read(text, Intl.DateTimeFormat().resolvedOptions().timeZone)
      : { candidates: readCandidates(table, text, flags.update, format as RowFormat | undefined, flags.raw), left: {} }
    const invalid = all.filter(({ problems }) => problems.length > 0)
    if (!flags.skipInvalid) refuseInvalid(fileName, invalid)
    let candidates: Candidate[] = all
      .map((candidate, position) => ({ ...candidate, position }))
      .filter(({ problems }) => problems.length === 0)
    warn(io, [...invalid.flatMap(linesOfProblems), ...candidates.flatMap(linesOfNotes)])
    const leftOut = countsOf({ invalid: invalid.length, ...left })
    if (flags.dryRun) {
      const text = `${pluralize(candidates.length, 'row')} of ${fileName} could be imported into ${table}${leftText(leftOut)}.`
      io.print(text, { table, rows: candidates.length, ...leftOut })
      return invalid.length > 0 ? 3 : 0
    }

    const outcomes = await withRows(context, async (access) => {
      const { copy, fresh, send } = access
      const isMatched = exchange && !flags.again
      if (isMatched || flags.calendar !== undefined) await fresh()
      let source = text
      if (flags.calendar !== undefined) {
        const { intoCalendar, readCalendarFile } = await import('../../client/rows/calendars.ts')
        const uid = await calendarUid(access, flags.calendar, readCalendarFile(text).color)
        candidates = intoCalendar(candidates, uid)
        source += uid
      }
      if (isMatched) candidates = exchange.withKnown(candidates, copy.rows(table))
      const changes = changesOf(table, candidates, source, flags.again)
      const progress = makeProgress({
        label: table,
        total: changes.length,
        format: (amount) => `${Math.round(amount)} rows`,
      })
      try {
        return await send(changes, progress.add)
      } finally {
        progress.end()
      }
    })
    return report(io, table, candidates, outcomes, leftOut)
  },
})

/** What is not imported, by kind. */
type Counts = Left & { invalid?: number }

const countsOf = (counts: Counts): Counts => Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))

const leftText = ({
  invalid = 0,
  cancelled = 0,
  groups = 0,
  pictures = 0,
  attachments = 0,
  addresses = 0,
}: Counts): string =>
  [
    invalid > 0 ? `, ${invalid} not valid` : '',
    cancelled > 0 ? `, ${cancelled} cancelled and left out` : '',
    groups > 0 ? `, ${pluralize(groups, 'group')} left out` : '',
    addresses > 0 ? `, ${pluralize(addresses, 'address', 'addresses')} left out` : '',
    attachments > 0 ? `, ${pluralize(attachments, 'attachment')} left out` : '',
    pictures > 0 ? `, ${pluralize(pictures, 'picture')} left out` : '',
  ].join('')

const linesOfProblems = ({ where, problems }: Candidate): string[] => problems.map((one) => `${where}: ${one}`)
const linesOfNotes = ({ where, notes = [] }: Candidate): string[] => notes.map((one) => `${where}: ${one}`)

function warn(io: Io, lines: readonly string[]): void {
  for (const line of lines.slice(0, MAX_LISTED)) io.warn(printable(line))
  if (lines.length > MAX_LISTED) io.warn(`and ${lines.length - MAX_LISTED} more`)
}

function assertCalendarFlag(name: string | undefined, isCalendar: boolean): void {
  if (name === undefined) return
  if (!isCalendar) throw usage('--calendar is for iCalendar files; rows of other files have a column calendar_uid.')
  if (name.trim() === '') throw usage('The name of a calendar cannot be empty.')
}

function report(io: Io, table: string, candidates: Candidate[], outcomes: ChangeResult[], left: Counts): ExitCode {
  const failed = outcomes.flatMap((outcome, index) =>
    outcome.ok
      ? []
      : [{ where: candidates[index]!.where, code: outcome.code ?? outcome.status, error: refusalOf(outcome) }],
  )
  const duplicates = outcomes.filter(({ status }) => status === 'duplicate').length
  const queued = outcomes.filter(({ status }) => status === 'queued').length
  const applied = outcomes.length - failed.length - duplicates - queued
  for (const { where, error } of failed.slice(0, MAX_LISTED)) io.warn(printable(`${where}: ${error}`))
  if (failed.length > MAX_LISTED) io.warn(`and ${pluralize(failed.length - MAX_LISTED, 'row')} more`)
  const parts = [`Imported ${pluralize(applied, 'row')} into ${table}`]
  if (duplicates > 0) parts.push(`${duplicates} had been imported before`)
  if (queued > 0) parts.push(`${queued} are queued`)
  if (failed.length > 0) parts.push(`${failed.length} failed`)
  io.print(`${parts.join(', ')}${leftText(left)}.`, {
    table,
    rows: outcomes.length,
    applied,
    duplicates,
    ...(queued > 0 ? { queued } : {}),
    failed,
    ...left,
  })
  return failed.length > 0 || left.invalid !== undefined ? 3 : 0
}

function refuseInvalid(source: string, candidates: Candidate[]): void {
  const problems = candidates.flatMap(linesOfProblems).map((line) => `  ${line}`)
  if (problems.length === 0) return
  const more = problems.length > MAX_LISTED ? [`  and ${problems.length - MAX_LISTED} more`] : []
  throw usage(
    [
      `${source} has rows that are not valid; nothing was imported. With --skip-invalid, the others are.`,
      ...problems.slice(0, MAX_LISTED),
      ...more,
    ].join('\n'),
  )
}

async function readText(io: Io, file: string): Promise<string> {
  const bytes = file === '-' ? await readAll(io.input()) : await readFile(file).catch(explainReadError(file))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw usage(`${file} is not UTF-8 text.`)
  }
}

const explainReadError = (file: string) => (error: NodeJS.ErrnoException) => {
  throw error.code === 'ENOENT' ? new Exit(5, `There is no file ${file}.`, 'not_found') : error
}

async function readAll(input: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of input) chunks.push(chunk)
  return Buffer.concat(chunks)
}
