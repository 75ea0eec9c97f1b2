import { describe, expect, test } from 'vitest'
import { parseCsv } from '../../../src/base/csv.ts'
import { formatRows, readCandidates } from '../../../src/client/rows/row-files.ts'
import { tables } from '../../../src/contract/tables.ts'
import { changesOf } from '../../../src/client/rows/row-import.ts'

const rows = [
  {
    id: 3,
    title: 'Line\nbreak, "quoted"',
    content: null,
    category: '',
    pinned: true,
    color: 'red',
    created_at: 'c',
    updated_at: 'u',
    version: 2,
  },
  {
    id: 9,
    title: '=1+1',
    content: '😀',
    category: null,
    pinned: false,
    color: null,
    created_at: 'c',
    updated_at: 'u',
    version: 1,
  },
]
const own = rows.map(({ id: _id, created_at: _c, updated_at: _u, version: _v, ...row }) => row)

describe.each(['json', 'jsonl', 'csv'] as const)('an export as %s', (format) => {
  const text = formatRows('svc_notes', rows, format)

  test('is read back as new rows with the same content', () => {
    const candidates = readCandidates('svc_notes', text, false)
    expect(candidates.map(({ values }) => values)).toEqual(own)
    expect(candidates.flatMap(({ problems: flaws }) => flaws)).toEqual([])
    expect(candidates.some((candidate) => 'id' in candidate)).toBe(false)
  })

  test('is read back as changes of the same rows when that is asked for', () => {
    const candidates = readCandidates('svc_notes', text, true)
    expect(candidates.map(({ id, version }) => [id, version])).toEqual([
      [3, 2],
      [9, 1],
    ])
    expect(candidates.flatMap(({ problems: flaws }) => flaws)).toEqual([])
  })
})

describe('files that are not valid', () => {
  const flaws = (text: string, update = false) =>
    readCandidates('svc_tasks', text, update).flatMap(({ where, problems: all }) =>
      all.map((flaw) => `${where}: ${flaw}`),
    )

  test('name the line of each flaw in CSV', () => {
    expect(flaws('title,priority,due_on\n"two\nlines",1,\nB,high,2026-13-01\n,2,\nC,1,,more\n')).toEqual([
      'line 4: priority must be a whole number from 0 to 9, not "high".',
      'line 4: due_on must be a date such as 2026-11-21, not "2026-13-01".',
      'line 5: title is missing.',
      'line 6: it has 4 fields but the first line has 3.',
    ])
  })

  test('name the line in JSON lines and the row in JSON', () => {
    expect(flaws('{"title":"A"}\n\n{"title":5}\n')).toEqual([
      'line 3: title must be a text of at most 500 characters, not "5".',
    ])
    expect(flaws('[{"title":"A"},[],{"titel":"B"}]')).toEqual([
      'row 2: a row must be a JSON object.',
      'row 2: title is missing.',
      `row 3: svc_tasks has no column "titel": it has ${Object.keys(tables.svc_tasks.columns).join(', ')}.`,
      'row 3: title is missing.',
    ])
  })

  test('a broken id matters only when rows are changed by it', () => {
    expect(flaws('id,title\nx,A\n')).toEqual([])
    expect(flaws('id,title\nx,A\n', true)).toEqual(['line 2: id must be the id of a row, not "x".'])
  })

  test('with --update rows without an id are new ones, and others need not be whole', () => {
    expect(flaws('id,priority\n4,2\n,3\n', true)).toEqual(['line 3: title is missing.'])
  })

  test.each([
    ['{"title":', /^Line 1 cannot be read/],
    ['{"title":"A"}\n{oops}', /^Line 2 cannot be read/],
    ['[{"title":"A"}', /^The JSON cannot be read/],
    ['title\n"open', /Line 2: a quote is opened/],
    ['title,title\na,b', /Line 1: the column "title" is there twice/],
    ['titel,note\na,b', /Line 1: svc_tasks has no column "titel": it has title, note/],
  ])('%j is no file of rows', (text, message) => {
    expect(() => flaws(text)).toThrow(message)
  })

  test('an empty file has no rows', () => {
    expect(readCandidates('svc_tasks', '', false)).toEqual([])
    expect(readCandidates('svc_tasks', 'title,note\n', false)).toEqual([])
  })
})

describe('changes of an import', () => {
  const text = '[{"title":"A"},{"title":"A"},{"id":4,"version":2,"title":"B"}]'
  const changes = (again = false) => changesOf('svc_tasks', readCandidates('svc_tasks', text, true), text, again)

  test('add rows, or change those with an id only if they are still as they were', () => {
    expect(changes()).toMatchObject([
      { verb: 'INSERT', values: { title: 'A' } },
      { verb: 'INSERT', values: { title: 'A' } },
      { verb: 'UPDATE', row: 4, values: { title: 'B' }, base_version: 2 },
    ])
  })

  test('have ids that are the same each time and differ from row to row, file to file', () => {
    const ids = changes().map(({ op_id }) => op_id)
    expect(changes().map(({ op_id }) => op_id)).toEqual(ids)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const other = changesOf('svc_tasks', readCandidates('svc_tasks', text, true), `${text} `, false)
    expect(other.some(({ op_id }) => ids.includes(op_id))).toBe(false)
    expect(changes(true).some(({ op_id }) => ids.includes(op_id))).toBe(false)
  })
})

test('CSV guards texts that a spreadsheet would run as a formula, unless it is to be raw, and importing takes the guard away', () => {
  const texts = ['=1+1', '+49 30', '-x', '@cmd', '\t=1', '\n=1', '＝1', '＠x', "'=1", "''@x", "'quoted'", 'plain', '']
  const rows = texts.map((title, index) => ({ id: index + 1, title }))
  const titlesIn = (text: string, isRaw: boolean) =>
    readCandidates('svc_notes', text, false, 'csv', isRaw).map(({ values }) => values['title'])
  const guarded = formatRows('svc_notes', rows, 'csv')
  expect(
    parseCsv(guarded).filter(({ fields }) => fields.some((field) => /^[=+\-@\t\r\n＝＋－＠]/.test(field ?? ''))),
  ).toEqual([])
  expect(titlesIn(guarded, false)).toEqual(texts)
  expect(titlesIn(formatRows('svc_notes', rows, 'csv', true), true)).toEqual(texts)
  const amounts = formatRows('svc_finance', [{ id: 1, amount_cents: -5 }], 'csv')
  expect(amounts).toContain(',-5,')
})

test('lists are marked where they contain formulas, and come back', () => {
  const row = { id: 1, title: 'a', tags: ['x;=1+1', '-2'] }
  const text = formatRows('svc_docs', [row], 'csv')
  expect(text).toContain(`x;'=1+1`)
  expect(readCandidates('svc_docs', text, false)[0]).toMatchObject({ values: { tags: row.tags }, problems: [] })
})
