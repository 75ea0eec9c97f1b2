import { cancelled, command, flag } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { connectionFlags, withRows } from './row-access.ts'
import { assertApplied, refusalOf } from './change-result.ts'
import { rowId } from './row-id.ts'

export const remove = command({
  name: 'data remove',
  summary: 'Delete rows permanently',
  needs: 'server',
  args: { table: 'table; svc_ may be left out', ids: { summary: 'ids of the rows', many: true } },
  flags: { yes: flag.yes, ...connectionFlags },
  examples: ['svc data remove notes 12', 'svc data remove notes 12 13 14 --yes'],
  async run(context): Promise<ExitCode | void> {
    const { io, args, flags } = context
    const { writableTable } = await import('../../client/rows/row-values.ts')
    const table = writableTable(args.table)
    const ids = [...new Set(args.ids.map(rowId))]
    const named = ids.length === 1 ? `${table} ${ids[0]}` : `${ids.length} rows of ${table}`
    if (!flags.yes && !(await io.confirm(`Delete ${named}?`))) throw cancelled()

    const changes = ids.map((row) => ({ table, verb: 'DELETE' as const, row, values: {} }))
    const outcomes = await withRows(context, ({ send }) => send(changes))
    if (outcomes.length === 1) assertApplied(named, outcomes[0]!)
    const failed = outcomes.filter(({ ok }) => !ok)
    for (const outcome of failed) io.warn(`${table} ${ids[outcomes.indexOf(outcome)]}: ${refusalOf(outcome)}`)
    const deleted = ids.length - failed.length
    const done = outcomes.some(({ status }) => status === 'queued') ? 'Queued the deletion of' : 'Deleted'
    const words = failed.length === 0 ? `${done} ${named}.` : `${done} ${deleted} of ${named}.`
    io.print(words, { table, deleted, results: outcomes.map((outcome, index) => ({ ...outcome, index })) })
    return failed.length > 0 ? 3 : 0
  },
})
