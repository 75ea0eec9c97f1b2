import { command, flag } from '../command.ts'
import { connectionFlags, withRows } from './row-access.ts'

export const exportRows = command({
  name: 'data export',
  summary: 'All rows of a table on standard output',
  details:
    'In CSV nothing between two commas is null and "" is an empty text, so that an export can be imported as it was. ' +
    'Texts that a spreadsheet would run as a formula get an apostrophe in front, which svc data import takes away again. ' +
    'Times and ids are exported too; svc data import leaves them to the server.',
  needs: 'server',
  onlyPrints: true,
  args: { table: 'table; svc_ may be left out' },
  flags: {
    format: flag.choice('json (the default), jsonl (a row a line) or csv', 'FORMAT', ['json', 'jsonl', 'csv']),
    raw: flag.switch('CSV: leave texts as they are that a spreadsheet would run as a formula'),
    ...connectionFlags,
  },
  examples: ['svc data export notes > notes.json', 'svc data export finance --format csv > finance.csv'],
  async run(context) {
    const { io, args, flags } = context
    const { tableNamed } = await import('../../client/row-values.ts')
    const { formatRows } = await import('../../client/row-files.ts')
    const table = tableNamed(args.table)
    const rows = await withRows(context, async ({ copy, fresh }) => {
      await fresh()
      return copy.rows(table)
    })
    await io.raw(formatRows(table, rows, flags.format ?? 'json', flags.raw))
  },
})
