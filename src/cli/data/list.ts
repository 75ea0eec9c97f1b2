import { printable } from '../../base/text.ts'
import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { connectionFlags, withRows } from './row-access.ts'

/** Longest text in a cell, characters. */
const CELL = 40

export const list = command({
  name: 'data list',
  summary: 'List rows of a table',
  details:
    'Long texts are shortened; --json shows them completely. --where can be given several times: rows must match all.\n\n' +
    'The rows are also kept on this machine. If the server does not answer, their last known state is shown with ' +
    'the queued changes, and stderr says how old it is. A row with a negative id has not been sent to the server yet.',
  needs: 'server',
  onlyPrints: true,
  args: { table: 'table; svc_ may be left out' },
  flags: {
    where: flag.many('only rows with this value', 'COLUMN=VALUE'),
    columns: flag.text('only these columns', 'A,B,…'),
    limit: flag.integer('maximum number of rows', 'N', 1),
    ...connectionFlags,
  },
  examples: [
    'svc data list notes',
    'svc data list tasks --where done=false --columns title,due_on',
    'svc data list svc_finance --json',
  ],
  async run(context) {
    const { io, args, flags } = context
    const { columnsOf, SYSTEM_COLUMNS, tableNamed } = await import('../../client/rows/row-values.ts')
    const { makeFilter: meets, textOf } = await import('../../client/rows/row-text.ts')
    const table = tableNamed(args.table)
    const own = columnsOf(table)
    const all = ['id', ...own, ...SYSTEM_COLUMNS.slice(1)]
    const columns = flags.columns?.split(',').map((name) => name.trim()) ?? ['id', ...own]
    const unknown = columns.find((name) => !all.includes(name))
    if (unknown !== undefined) throw usage(`${table} has no column "${unknown}": it has ${all.join(', ')}.`)

    const conditions = flags.where.map((pair) => meets(table, pair))
    const found = await withRows(context, async ({ copy, fresh }) => {
      await fresh()
      return copy.rows(table)
    })
    const rows = found.filter((row) => conditions.every((holds) => holds(row))).slice(0, flags.limit)
    const picked = flags.columns
      ? rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name]])))
      : rows
    io.table(
      rows,
      columns.map((name) => ({ title: name.toUpperCase(), value: (row) => clip(textOf(row[name])) })),
      `No such rows in ${table}.`,
      picked,
    )
  },
})

function clip(text: string): string {
  const line = printable(text.replace(/\s+/g, ' ').trim())
  const characters = Array.from(line)
  return characters.length > CELL ? `${characters.slice(0, CELL - 1).join('')}…` : line
}
