import { randomUUID } from 'node:crypto'
import { cancelled, command, flag } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import { mustSucceed, pushed, refusalOf } from './outcome.ts'
import { rowId } from './row-id.ts'

export const remove = command({
  name: 'data remove',
  summary: 'Delete rows for good',
  needs: 'server',
  args: { table: 'table; svc_ may be left out', ids: { summary: 'ids of the rows', many: true } },
  flags: { yes: flag.yes },
  examples: ['svc data remove notes 12', 'svc data remove notes 12 13 14 --yes'],
  async run({ io, api, args, flags }): Promise<ExitCode | void> {
    const { writableTable } = await import('../../client/row-values.ts')
    const table = writableTable(args.table)
    const ids = [...new Set(args.ids.map(rowId))]
    const named = ids.length === 1 ? `${table} ${ids[0]}` : `${ids.length} rows of ${table}`
    if (!flags.yes && !(await io.confirm(`Delete ${named}?`))) throw cancelled()

    const operation = 'DELETE' as const
    const operations = ids.map((id) => ({ table, operation, data: { id }, op_id: randomUUID() }))
    const outcomes = await pushed(io, api, operations)
    if (outcomes.length === 1) mustSucceed(named, outcomes[0]!)
    const failed = outcomes.filter(({ ok }) => !ok)
    for (const outcome of failed) io.warn(`${table} ${ids[outcome.index]}: ${refusalOf(outcome)}`)
    const words = failed.length === 0 ? `Deleted ${named}.` : `Deleted ${ids.length - failed.length} of ${named}.`
    io.say(words, { table, deleted: ids.length - failed.length, results: outcomes })
    return failed.length > 0 ? 3 : 0
  },
})
