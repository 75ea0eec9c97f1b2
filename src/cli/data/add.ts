import { randomUUID } from 'node:crypto'
import { command, flag } from '../command.ts'
import { usage, type ExitCode } from '../exit.ts'
import { opId } from './op-id.ts'
import { mustSucceed, pushed, refusalOf } from './outcome.ts'

export const add = command({
  name: 'data add',
  summary: 'Add a row, or several from JSON',
  details:
    'An operation id (a UUID of your choice) makes it safe to run the same command again: the row is added once.',
  needs: 'server',
  args: { table: 'table; svc_ may be left out', values: { summary: 'column=value', many: true, optional: true } },
  flags: {
    jsonStdin: flag.switch('read an object, or an array of them, from standard input'),
    opId,
  },
  examples: [
    "svc data add notes title=Milk content='two bottles'",
    'svc data add tasks title="Call Ada" due_on=2026-12-01 priority=2',
    'jq .items list.json | svc data add notes --json-stdin',
  ],
  async run({ io, api, args, flags }): Promise<ExitCode | void> {
    const { BadRow, flawsOf, rowFrom, writableTable } = await import('../../client/row-values.ts')
    const { readCandidates } = await import('../../client/row-files.ts')
    const table = writableTable(args.table)
    if (flags.jsonStdin === args.values.length > 0)
      throw usage('Give the values as column=value, or as JSON with --json-stdin.')
    const given = flags.jsonStdin
      ? readCandidates(table, await io.stdin(), false, 'json')
      : [rowFrom(table, args.values)].map((values) => ({
          where: 'row 1',
          values,
          flaws: flawsOf(table, 'new', values),
        }))
    const flaws = given.flatMap(({ where, flaws }) =>
      flaws.map((flaw) => (given.length > 1 ? `${where}: ${flaw}` : flaw)),
    )
    if (flaws.length > 0) throw new BadRow(flaws.join('\n'))
    if (flags.opId !== undefined && given.length !== 1)
      throw usage('--op-id names one operation: give one row with it.')

    const operation = 'INSERT' as const
    const operations = given.map(({ values }) => ({
      table,
      operation,
      data: values,
      op_id: flags.opId ?? randomUUID(),
    }))
    const outcomes = await pushed(io, api, operations)
    const [first] = outcomes
    if (outcomes.length === 1 && first) {
      mustSucceed('The row', first)
      const { id, version, status, op_id } = first
      const words = status === 'duplicate' ? `${table} ${id} was there already.` : `Added ${table} ${id}.`
      return io.say(words, { table, id, version, status, op_id })
    }
    const added = outcomes.filter(({ ok }) => ok)
    const failed = outcomes.filter(({ ok }) => !ok)
    for (const outcome of failed) io.warn(`row ${outcome.index + 1}: ${refusalOf(outcome)}`)
    io.say(`Added ${added.length} of ${outcomes.length} rows to ${table}.`, outcomes)
    return failed.length > 0 ? 3 : 0
  },
})
