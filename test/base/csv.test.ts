import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BadCsv, formatCsv, guardFormula, parseCsv, unguardFormula } from '../../src/base/csv.ts'

const fieldsOf = (text: string) => parseCsv(text).map(({ fields }) => fields)

describe('reading CSV', () => {
  test('takes LF, CRLF, a missing last line break and a byte order mark', () => {
    expect(fieldsOf('\ufeffa,b\r\n1,2\n3,4')).toEqual([
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ])
  })

  test('tells nothing from an empty text', () => {
    expect(fieldsOf('a,b,c\n,"",x')).toEqual([
      ['a', 'b', 'c'],
      [null, '', 'x'],
    ])
  })

  test('keeps delimiters, quotes and line breaks within quotes, and counts lines through them', () => {
    expect(parseCsv('a,b\n"x, ""y""\nz",1\n\n\nlast,2\n')).toEqual([
      { line: 1, fields: ['a', 'b'] },
      { line: 2, fields: ['x, "y"\nz', '1'] },
      { line: 6, fields: ['last', '2'] },
    ])
  })

  test('takes semicolons and tabs where the first line is written with them', () => {
    expect(fieldsOf('a;b\n1,5;2')).toEqual([
      ['a', 'b'],
      ['1,5', '2'],
    ])
    expect(fieldsOf('a\tb\n1\t2')[1]).toEqual(['1', '2'])
    expect(fieldsOf('"a;b;c",d\n1,2')[1]).toEqual(['1', '2'])
  })

  test('keeps a delimiter at the end of a line as an empty field', () => {
    expect(fieldsOf('a,\n,')).toEqual([
      ['a', null],
      [null, null],
    ])
  })

  test('an empty text has no records', () => {
    expect(parseCsv('')).toEqual([])
    expect(parseCsv('\r\n\n')).toEqual([])
  })

  test.each([
    ['a,b\n"open,1\n', 'Line 2: a quote is opened here and never closed.'],
    ['a\n\n"x"y\n', 'Line 3: after a closing quote comes a delimiter or the end of the line, not "y".'],
  ])('refuses %j and says where', (text, message) => {
    expect(() => parseCsv(text)).toThrow(new BadCsv(message))
  })
})

test('whatever was written is read back as it was', () => {
  // One lonely null is an empty line, which has no record.
  const field = fc.option(
    fc.string({ unit: fc.constantFrom('a', 'ü', '😀', ',', ';', '\t', '"', '\n', '\r', ' ', '=') }),
    { nil: null },
  )
  const row = fc.array(field, { minLength: 2, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 5 }), (rows) => {
      const header = ['first', 'second']
      expect(fieldsOf(formatCsv([header, ...rows]))).toEqual([header, ...rows])
    }),
  )
})

test.each([
  ['=1+1', "'=1+1"],
  ["x;=cmd|'/C calc'!A0;y", "x;'=cmd|'/C calc'!A0;y"],
  ['x;"=1+1"', 'x;\'"=1+1"'],
  ['a\t@b\n-c\r\n+d', "a\t'@b\n'-c\r\n'+d"],
  ['1, -2; 3', '1, -2; 3'],
])('%j is marked where a spreadsheet could begin a formula', (text, marked) => {
  expect(guardFormula(text)).toBe(marked)
  expect(unguardFormula(marked)).toBe(text)
})

test('the marks of formulas are removed as they were made', () => {
  const unit = fc.constantFrom('a', "'", '"', '=', '-', ';', '\t', '\r', '\n', '＝')
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(unguardFormula(guardFormula(text))).toBe(text)
    }),
  )
})
