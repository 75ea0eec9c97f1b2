import { exchangeNames, isExchange, loadExchange } from '../../client/rows/file-formats.ts'
import type { RowFormat } from '../../client/rows/row-files.ts'
import { command, flag } from '../command.ts'
import { assertEvents, calendarFlag, eventsOfCalendar } from './calendar-flag.ts'
import { connectionFlags, withRows } from './row-access.ts'

export const exportRows = command({
  name: 'data export',
  summary: 'Print all rows of a table',
  details:
    'In CSV, an empty field means null, and "" means an empty text, so that an export can be imported unchanged. ' +
    'Texts that a spreadsheet would run as a formula get a leading apostrophe, which svc data import removes. ' +
    'Times and ids are exported too; svc data import leaves them to the server. ' +
    'Events that came from an iCalendar file, and contacts that came from a vCard file, are written as they were there, apart from what was changed.',
  needs: 'server',
  onlyPrints: true,
  args: { table: 'table; svc_ may be left out' },
  flags: {
    format: flag.choice(
      'json (the default), jsonl (a row a line), csv, ics for events, vcf for contacts, or html for bookmarks',
      'FORMAT',
      ['json', 'jsonl', 'csv', ...exchangeNames],
    ),
    calendar: calendarFlag('only the events of this calendar, by its name or uid'),
    raw: flag.switch('CSV: do not mark texts that a spreadsheet would run as a formula'),
    ...connectionFlags,
  },
  examples: [
    'svc data export notes > notes.json',
    'svc data export finance --format csv > finance.csv',
    'svc data export events --format ics > calendar.ics',
    'svc data export events --format ics --calendar Work > work.ics',
    'svc data export contacts --format vcf > contacts.vcf',
    'svc data export bookmarks --format html > bookmarks.html',
  ],
  async run(context) {
    const { io, args, flags } = context
    const { tableNamed } = await import('../../client/rows/row-values.ts')
    const { formatRows } = await import('../../client/rows/row-files.ts')
    const table = tableNamed(args.table)
    const exchange = isExchange(flags.format) ? await loadExchange(flags.format, table, 'write') : undefined
    if (flags.calendar !== undefined) assertEvents(table)
    const { rows, calendar } = await withRows(context, async ({ copy, fresh }) => {
      await fresh()
      if (flags.calendar !== undefined) return eventsOfCalendar(copy, flags.calendar)
      return { rows: copy.rows(table), calendar: undefined }
    })
    const named = calendar && { name: String(calendar['name']), color: (calendar['color'] as string) ?? undefined }
    if (exchange) return io.raw(exchange.write(rows, named))
    await io.raw(formatRows(table, rows, (flags.format as RowFormat | undefined) ?? 'json', flags.raw))
  },
})
