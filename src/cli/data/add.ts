import { command, flag } from '../command.ts'
import { usage, type ExitCode } from '../exit.ts'
import { connectionFlags, withRows } from './row-access.ts'
import { opId } from './op-id.ts'
import { assertApplied, refusalOf } from './change-result.ts'

export const add = command({
  name: 'data add',
  summary: 'Add a row, or several from JSON',
  details:
    'An operation id (a UUID of your choice) makes the command safe to repeat: the row is added once. If the server does ' +
    'not answer, the row gets a negative id and is sent later, by svc sync or the next svc data.',
  needs: 'server',
  args: { table: 'table; svc_ may be left out', values: { summary: 'column=value', many: true, optional: true } },
  flags: {
    jsonStdin: flag.switch('read an object, or an array of them, from standard input'),
    opId,
    ...connectionFlags,
  },
  examples: [
    "svc data add notes title=Milk content='two bottles'",
    'svc data add tasks title="Call Ada" due_on=2026-12-01 priority=2',
    'jq .items list.json | svc data add notes --json-stdin',
  ],
  async run(context): Promise<ExitCode | void> {
    const { io, args, flags } = context
    const { BadRow, problemsOf, rowFrom, writableTable } = await import('../../client/rows/row-values.ts')
    const { readCandidates } = await import('../../client/rows/row-files.ts')
    const table = writableTable(args.table)
    if (flags.jsonStdin === args.values.length > 0)
      throw usage('Give the values as column=value, or as JSON with --json-stdin.')
    const given = flags.jsonStdin
      ? readCandidates(table, await io.stdin(), false, 'json')
      : [rowFrom(table, args.values)].map((values) => ({
          where: 'row 1',
          values,
          problems: problemsOf(table, 'new', values),
        }))
    const problems = given.flatMap(({ where, problems }) =>
      problems.map((problem) => (given.length > 1 ? `${where}: ${problem}` : problem)),
    )
    if (problems.length > 0) throw new BadRow(problems.join('\n'))
    if (flags.opId !== undefined && given.length !== 1)
      throw usage('--op-id names one operation: give one row with it.')

    const own = flags.opId === undefined ? {} : { op_id: flags.opId }
    const changes = given.map(({ values }) => ({ table, verb: 'INSERT' as const, values, ...own }))
    const outcomes = await withRows(context, ({ send }) => send(changes))
    const [first] = outcomes
    if (outcomes.length === 1 && first) {
      assertApplied('The row', first)
      const { id, version, status, op_id } = first
      const words = { duplicate: `${table} ${id} already existed.`, queued: `Queued ${table} ${id}.` } as Record<
        string,
        string
      >
      return io.print(words[status] ?? `Added ${table} ${id}.`, { table, id, version, status, op_id })
    }
    const added = outcomes.filter(({ ok }) => ok)
    const failed = outcomes.filter(({ ok }) => !ok)
    for (const outcome of failed) io.warn(`row ${outcomes.indexOf(outcome) + 1}: ${refusalOf(outcome)}`)
    const queued = outcomes.filter(({ status }) => status === 'queued').length
    const rest = queued > 0 ? `, queued ${queued}` : ''
    const results = outcomes.map((outcome, index) => ({ ...outcome, index }))
    io.print(`Added ${added.length - queued} of ${outcomes.length} rows to ${table}${rest}.`, results)
    return failed.length > 0 ? 3 : 0
  },
})
