import { command, flag } from '../command.ts'
import { usage } from '../exit.ts'
import { connectionFlags, withRows } from './row-access.ts'
import { opId } from './op-id.ts'
import { assertApplied } from './change-result.ts'
import { rowId } from './row-id.ts'

export const set = command({
  name: 'data set',
  summary: 'Change columns of a row',
  details:
    'With --base-version the change is refused if the row has changed since that version. If the server does not answer, the ' +
    'change is queued. If somebody changes the same columns meanwhile, svc sync conflicts shows both.',
  needs: 'server',
  args: {
    table: 'table; svc_ may be left out',
    id: 'id of the row',
    values: { summary: 'column=value', many: true, optional: true },
  },
  flags: {
    jsonStdin: flag.switch('read the columns as a JSON object from standard input'),
    baseVersion: flag.integer('only if the row is still at this version', 'N', 1),
    opId,
    ...connectionFlags,
  },
  examples: ['svc data set tasks 4 done=true', 'svc data set notes 12 category= --base-version 3'],
  async run(context) {
    const { io, args, flags } = context
    const { BadRow, problemsOf, rowFrom, writableTable } = await import('../../client/rows/row-values.ts')
    const { readCandidates } = await import('../../client/rows/row-files.ts')
    const table = writableTable(args.table)
    const id = rowId(args.id)
    if (flags.jsonStdin === args.values.length > 0)
      throw usage('Give the values as column=value, or as JSON with --json-stdin.')
    let values = rowFrom(table, args.values)
    if (flags.jsonStdin) {
      const rows = readCandidates(table, `[${await io.stdin()}]`, true, 'json')
      if (rows.length !== 1) throw usage('Standard input must contain one JSON object.')
      values = rows[0]!.values
    }
    const problems = problemsOf(table, 'change', values)
    if (problems.length > 0) throw new BadRow(problems.join('\n'))

    const base = flags.baseVersion === undefined ? {} : { base_version: flags.baseVersion }
    const own = flags.opId === undefined ? {} : { op_id: flags.opId }
    const change = { table, verb: 'UPDATE' as const, row: id, values, ...base, ...own }
    const [outcome] = await withRows(context, ({ send }) => send([change]))
    assertApplied(`${table} ${id}`, outcome!)
    const { id: known, version, status, op_id } = outcome!
    const words = status === 'queued' ? `Queued the change of ${table} ${known}.` : `Changed ${table} ${known}.`
    io.print(words, { table, id: known, version, status, op_id })
  },
})
