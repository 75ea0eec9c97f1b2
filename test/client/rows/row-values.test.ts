import { describe, expect, test } from 'vitest'
import { makeFilter, textOf } from '../../../src/client/rows/row-text.ts'
import { tables } from '../../../src/contract/tables.ts'
import { BadRow, problemsOf, rowFrom, tableNamed, writableTable } from '../../../src/client/rows/row-values.ts'

describe('tables by name', () => {
  test('the prefix may be left out', () => {
    expect(tableNamed('notes')).toBe('svc_notes')
    expect(tableNamed('svc_files')).toBe('svc_files')
  })

  test.each(['', 'svc_', 'nothing', 'constructor', 'Notes'])('"%s" is none', (name) => {
    expect(() => tableNamed(name)).toThrow(BadRow)
  })

  test('tables that other parts of the service write take no changes', () => {
    expect(writableTable('tasks')).toBe('svc_tasks')
    expect(() => writableTable('files')).toThrow(/written by other commands/)
  })
})

describe('column=value', () => {
  test('gives each value the type that its column has', () => {
    expect(rowFrom('svc_tasks', ['title=a=b', 'priority=3', 'done=yes', 'due_on=2026-12-01'])).toEqual({
      title: 'a=b',
      priority: 3,
      done: true,
      due_on: '2026-12-01',
    })
    expect(rowFrom('svc_docs', ['title=x', 'tags=["a","b"]'])).toEqual({ title: 'x', tags: ['a', 'b'] })
    expect(rowFrom('svc_places', ['latitude=-12.5', 'longitude=+1e2'])).toEqual({ latitude: -12.5, longitude: 100 })
  })

  test('no value is an empty text, or null in any other column; the word null is a text only in a text', () => {
    expect(rowFrom('svc_tasks', ['title=null', 'note=', 'due_on=', 'done_at=null'])).toEqual({
      title: 'null',
      note: '',
      due_on: null,
      done_at: null,
    })
  })

  test.each([
    [['priority=soon'], 'priority must be a whole number from 0 to 9, not "soon".'],
    [['priority=0x10'], 'priority must be a whole number from 0 to 9, not "0x10".'],
    [['done=perhaps'], 'done must be true or false, not "perhaps".'],
    [['colour=red'], `svc_tasks has no column "colour": it has ${Object.keys(tables.svc_tasks.columns).join(', ')}.`],
    [['toString=x'], /no column "toString"/],
    [['title'], '"title" is not of the form column=value.'],
    [['=x'], '"=x" is not of the form column=value.'],
    [['title=a', 'title=b'], '"title" is given twice.'],
  ])('refuses %j', (pairs, message) => {
    expect(() => rowFrom('svc_tasks', pairs)).toThrow(message)
  })

  test('refuses JSON that is none', () => {
    expect(() => rowFrom('svc_docs', ['tags=[a]'])).toThrow(
      'tags must be a list of texts such as ["tea","hot"], in JSON of at most 10000 characters, not "[a]".',
    )
  })
})

describe('rows are checked before they are sent', () => {
  const task = { title: 'Call Ada' }

  test('a sound row has no flaws', () => {
    expect(
      problemsOf('svc_tasks', 'new', {
        ...task,
        done: true,
        priority: 0,
        note: null,
        done_at: '2026-11-21T10:00:00+01:00',
      }),
    ).toEqual([])
    expect(problemsOf('svc_tasks', 'change', { priority: 9 })).toEqual([])
  })

  test('what is missing is missing only in a new row', () => {
    expect(problemsOf('svc_finance', 'new', { kind: 'income' })).toEqual([
      'amount_cents is missing.',
      'currency is missing.',
      'booked_on is missing.',
    ])
    expect(problemsOf('svc_finance', 'change', { kind: 'income' })).toEqual([])
  })

  test('everything that is wrong is told at once', () => {
    expect(
      problemsOf('svc_finance', 'new', {
        kind: 'gift',
        amount_cents: 1.5,
        currency: 'eur',
        booked_on: '2026-02-30',
        user_id: 7,
      }),
    ).toEqual([
      'svc_finance has no column "user_id": it has kind, amount_cents, currency, category, description, account, booked_on.',
      'kind must be income or expense or transfer, not "gift".',
      'amount_cents must be a whole number, not "1.5".',
      'currency must be a text that matches ^[A-Z]{3}$, not "eur".',
      'booked_on must be a date such as 2026-11-21, not "2026-02-30".',
    ])
  })

  test.each([
    ['svc_tasks', { title: null }, /title must be a text/],
    ['svc_tasks', { done: null }, /done must be true or false/],
    ['svc_tasks', { done: 1 }, /done must be true or false/],
    ['svc_tasks', { priority: 10 }, /from 0 to 9/],
    ['svc_tasks', { priority: '3' }, /whole number/],
    ['svc_tasks', { title: 't'.repeat(501) }, /at most 500 characters, not "t{60}…"/],
    ['svc_tasks', { done_at: '2026-11-21' }, /a time such as/],
    ['svc_places', { latitude: 90.5 }, /a number from -90 to 90/],
    ['svc_places', { latitude: NaN }, /a number/],
    ['svc_docs', { tags: 'x' }, /a list of texts/],
    ['svc_docs', { tags: ['x', { y: 1 }] }, /a list of texts/],
    ['svc_docs', { tags: Array.from({ length: 4_000 }, () => '') }, /at most 10000/],
  ] as const)('%s %j', (table, row, message) => {
    expect(problemsOf(table, 'change', row)).toEqual([expect.stringMatching(message)])
  })
})

describe('conditions', () => {
  const row = { id: 4, title: 'A', note: null, done: true, priority: 2, tags: ['x'] }

  test.each([
    ['title=A', true],
    ['title=a', false],
    ['done=yes', true],
    ['done=false', false],
    ['priority=2.0', true],
    ['note=', true],
    ['title=', false],
    ['id=4', true],
    ['id=04', false],
  ])('%s is %s', (pair, met) => {
    expect(makeFilter('svc_tasks', pair)(row)).toBe(met)
  })

  test('unknown columns are refused, known ones of read-only tables are not', () => {
    expect(() => makeFilter('svc_tasks', 'colour=red')).toThrow(/no column "colour"/)
    expect(makeFilter('svc_files', 'type=file')({ type: 'file' })).toBe(true)
  })
})

test('values as text', () => {
  expect([null, undefined, true, 1.5, 'x', ['a'], { a: 1 }].map(textOf)).toEqual([
    '',
    '',
    'true',
    '1.5',
    'x',
    '["a"]',
    '{"a":1}',
  ])
})

test('days of a time are those of a calendar, and texts are counted in characters', () => {
  const problems = (row: Record<string, unknown>) => problemsOf('svc_events', 'change', row)
  expect(problems({ starts_at: '2026-02-28T10:00:00Z', title: '😀'.repeat(500) })).toEqual([])
  expect(problems({ starts_at: '2026-02-30T10:00:00Z' })).toHaveLength(1)
  expect(problems({ title: '😀'.repeat(501) })).toHaveLength(1)
})
