import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { assertEvents, calendarFlag, eventsOfCalendar } from './calendar-flag.ts'
import { connectionFlags, withRows } from './row-access.ts'

export const exportRows = command({
  name: 'data export',
  summary: 'Print all rows of a table',
  details:
    'In CSV, nothing between two commas is null and "" is an empty text, so that an export can be imported unchanged. ' +
    'Texts that a spreadsheet would run as a formula get a leading apostrophe, which svc data import removes. ' +
    'Times and ids are exported too; svc data import leaves them to the server. ' +
    'Events that came from an iCalendar file are written as they were there, apart from what was changed.',
  needs: 'server',
  onlyPrints: true,
  args: { table: 'table; svc_ may be left out' },
  flags: {
    format: flag.choice('json (the default), jsonl (a row a line), csv, or ics for events', 'FORMAT', [
      'json',
      'jsonl',
      'csv',
      'ics',
    ]),
    calendar: calendarFlag('only the events of this calendar, by its name or uid'),
    raw: flag.switch('CSV: do not mark texts that a spreadsheet would run as a formula'),
    ...connectionFlags,
  },
  examples: [
    'svc data export notes > notes.json',
    'svc data export finance --format csv > finance.csv',
    'svc data export events --format ics > calendar.ics',
    'svc data export events --format ics --calendar Work > work.ics',
  ],
  async run(context) {
    const { io, args, flags } = context
    const { tableNamed } = await import('../../client/rows/row-values.ts')
    const { formatRows } = await import('../../client/rows/row-files.ts')
    const table = tableNamed(args.table)
    if (flags.format === 'ics' && table !== 'svc_events') throw usage('Only svc_events can be written as iCalendar.')
    if (flags.calendar !== undefined) assertEvents(table)
    const { rows, calendar } = await withRows(context, async ({ copy, fresh }) => {
      await fresh()
      if (flags.calendar !== undefined) return eventsOfCalendar(copy, flags.calendar)
      return { rows: copy.rows(table), calendar: undefined }
    })
    if (flags.format === 'ics') {
      const { formatIcs } = await import('../../client/rows/ics-write.ts')
      const named = calendar && { name: String(calendar['name']), color: (calendar['color'] as string) ?? undefined }
      return io.raw(formatIcs(rows, named))
    }
    await io.raw(formatRows(table, rows, flags.format ?? 'json', flags.raw))
  },
})
