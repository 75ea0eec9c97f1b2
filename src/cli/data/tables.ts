import { printable } from '../../base/text.ts'
import { command } from '../command.ts'

/** Milliseconds without a byte before the server counts as unreachable. */
const TIMEOUT = 20_000

export const tables = command({
  name: 'data tables',
  summary: 'List the synchronised tables and their columns',
  needs: 'server',
  onlyPrints: true,
  args: {},
  flags: {},
  examples: ['svc data tables', 'svc data tables --json'],
  async run({ io, api }) {
    const contract = await import('../../contract/tables.ts')
    const { columnsOf } = await import('../../client/rows/row-values.ts')
    const { syncStatus } = await import('../../contract/sync-status.ts')
    const { isTemporary } = await import('../../client/http/connectivity.ts')
    const { synced_tables } = await api
      .call(syncStatus.actions.info, {}, { timeout: TIMEOUT })
      .catch((error: unknown) => {
        if (!isTemporary(error)) throw error
        io.info(`${printable(error.message)} These are the tables that this version of svc knows.`)
        return { synced_tables: [...contract.feedTables] as string[] }
      })
    const rows = contract.feedTables
      .filter((table) => synced_tables.includes(table))
      .map((table) => {
        const writable = contract.isWritable(table)
        const declared = writable ? contract.tables[table] : contract.readOnlyTables[table]
        const required = (column: string) =>
          writable && (contract.tables[table].columns as Record<string, { required?: true }>)[column]?.required === true
        const columns = columnsOf(table).map((name) => ({ name, required: required(name) }))
        return { table, summary: declared.summary, writable, columns }
      })
    io.table(
      rows,
      [
        { title: 'TABLE', value: ({ table }) => table },
        { title: 'HOLDS', value: ({ summary }) => summary.split(';')[0]! },
        {
          title: 'COLUMNS (* must be given)',
          value: ({ columns }) => columns.map(({ name, required }) => `${name}${required ? '*' : ''}`).join(' '),
        },
        { title: '', value: ({ writable }) => (writable ? '' : 'read only') },
      ],
      'The server has none of the tables that this version of svc knows.',
    )
  },
})
