import { describe, expect, test } from 'vitest'
import { Value } from 'typebox/value'
import {
  feedTables,
  isWritable,
  readOnlyTables,
  rowSchema,
  tables,
  type Column,
  type SyncedTable,
} from '../../src/contract/tables.ts'

const declared = Object.entries<SyncedTable>(tables)

test('the tables are those of the specification, and what else there is', () => {
  expect(Object.keys(tables)).toEqual([
    'svc_notes',
    'svc_docs',
    'svc_finance',
    'svc_places',
    'svc_tasks',
    'svc_events',
    'svc_contacts',
    'svc_bookmarks',
    'svc_calendars',
  ])
  expect(feedTables).toEqual([...Object.keys(tables), 'svc_files', 'svc_rooms', 'svc_messages'])
  expect(Object.keys(tables.svc_notes.columns)).toEqual(expect.arrayContaining(['title', 'content', 'category']))
})

test('only the declared tables can be written', () => {
  expect(Object.keys(tables).every(isWritable)).toBe(true)
  for (const name of [...Object.keys(readOnlyTables), 'users', 'toString', '__proto__', ''])
    expect([name, isWritable(name)]).toEqual([name, false])
})

describe.each(declared)('%s', (name, { summary, columns }) => {
  test('has names that SQL, JSON and a command line take as they are', () => {
    expect(name).toMatch(/^svc_[a-z]+$/)
    expect(summary.length).toBeGreaterThan(3)
    expect(Object.keys(columns).filter((column) => !/^[a-z][a-z_]*$/.test(column))).toEqual([])
    // Every row has these, whatever its table.
    expect(
      Object.keys(columns).filter((column) =>
        ['id', 'user_id', 'version', 'created_at', 'updated_at'].includes(column),
      ),
    ).toEqual([])
  })

  test.each(Object.entries<Column>(columns))(
    '%s has a default that it allows, and bounds where a text could be long',
    (column, declaration) => {
      const { type, default: standard, required, max, values } = declaration
      if (standard !== undefined) {
        const row = { [column]: standard }
        expect(Value.Errors(rowSchema({ summary, columns: { [column]: declaration } }, 'change'), row)).toEqual([])
        expect(required).toBeUndefined()
      }
      if (type === 'text' || type === 'texts') expect(max).toBeGreaterThan(0)
      for (const value of values ?? []) expect(value.length).toBeLessThanOrEqual(max!)
    },
  )

  test('asks of a new row what it requires, of a change nothing', () => {
    const required = Object.entries<Column>(columns)
      .filter(([, column]) => column.required)
      .map(([column]) => column)
    expect(required.length).toBeGreaterThan(0)
    expect((rowSchema({ summary, columns }, 'new') as { required?: string[] }).required).toEqual(required)
    expect(Value.Check(rowSchema({ summary, columns }, 'change'), {})).toBe(true)
  })
})

test('a private column is neither asked for nor taken', () => {
  const table: SyncedTable = {
    summary: 'Things',
    columns: { name: { type: 'text', max: 5, required: true }, secret: { type: 'text', max: 5, private: true } },
  }
  for (const kind of ['new', 'change'] as const)
    expect(Object.keys(rowSchema(table, kind).properties)).toEqual(['name'])
})
