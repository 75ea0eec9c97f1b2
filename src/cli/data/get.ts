import { printable } from '../../base/text.ts'
import { command } from '../command.ts'
import { Exit } from '../exit.ts'
import { connectionFlags, withRows } from './row-access.ts'
import { rowId } from './row-id.ts'

export const get = command({
  name: 'data get',
  summary: 'Show one complete row',
  details: 'If the server does not answer, the last known state of the row is shown, and stderr says how old it is.',
  needs: 'server',
  onlyPrints: true,
  args: { table: 'table; svc_ may be left out', id: 'id of the row' },
  flags: connectionFlags,
  examples: ['svc data get notes 12', 'svc data get svc_contacts 3 --json'],
  async run(context) {
    const { io, args } = context
    const { tableNamed } = await import('../../client/rows/row-values.ts')
    const { textOf } = await import('../../client/rows/row-text.ts')
    const table = tableNamed(args.table)
    const id = rowId(args.id)
    const row = await withRows(context, async ({ copy, fresh }) => {
      await fresh()
      return copy.row(table, id)
    })
    if (!row) throw new Exit(5, `There is no row ${id} in ${table}.`, 'not_found')
    const width = Math.max(...Object.keys(row).map((name) => name.length))
    const indent = `\n${' '.repeat(width + 2)}`
    const lines = Object.entries(row).map(([name, value]) => {
      const text = textOf(value).split('\n').map(printable).join(indent)
      return `${io.paint.bold(printable(name).padEnd(width))}  ${text}`.trimEnd()
    })
    io.print(lines.join('\n'), row)
  },
})
