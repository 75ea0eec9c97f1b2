import { describe, expect, test } from 'vitest'
import { BadDocument, readDocument, type Path } from '../../src/base/document.ts'

const YAML = `# a remark
users:
  - name: ada
    role: admin
  - name: bob
    notes: &shared [1, 2]
again: *shared
`

const problemsOf = (text: string): string[] => {
  try {
    readDocument(text)
  } catch (error) {
    if (error instanceof BadDocument) return error.message.split('\n')
    throw error
  }
  return []
}

const placed = (text: string, path: Path): string => {
  const { line, column } = readDocument(text).placeOf(path)
  return `${line}:${column}`
}

describe('places', () => {
  const json = JSON.stringify(readDocument(YAML).value, null, 2)

  test.each<[Path, string, string]>([
    [[], '2:1', '1:1'],
    [['users'], '2:1', '2:3'],
    [['users', 0], '3:5', '3:5'],
    [['users', 1, 'name'], '5:5', '8:7'],
    [['users', 1, 'notes', 1], '6:24', '11:9'],
    [['again', 1], '6:24', '17:5'],
    // What is not there is where it should have been.
    [['users', 0, 'quota'], '3:5', '3:5'],
    [['users', 7, 'x'], '2:1', '2:3'],
  ])('%j stands at %s in YAML and at %s in JSON', (path, inYaml, inJson) => {
    expect(placed(YAML, path)).toBe(inYaml)
    expect(placed(json, path)).toBe(inJson)
  })

  test('names with escapes and braces in texts do not mislead in JSON', () => {
    const text = '{"a\\"b": "}]{\\\\", "c": [{"x": "\\"", "y": 1}]}'
    expect(placed(text, ['c', 0, 'y'])).toBe('1:37')
    expect(placed(text, ['a"b'])).toBe('1:2')
  })
})

describe('values', () => {
  test('dates and words stay texts', () => {
    expect(readDocument('a: 2026-11-21\nb: no\nc: 012\nd: null\n').value).toEqual({
      a: '2026-11-21',
      b: 'no',
      c: 12,
      d: null,
    })
  })

  test('a mark of the byte order is no part of it', () => {
    expect(readDocument('\ufeffa: 1').value).toEqual({ a: 1 })
    expect(readDocument('\ufeff{"a": 1}').value).toEqual({ a: 1 })
  })

  test('nothing is null', () => {
    expect(readDocument('').value).toBeNull()
    expect(readDocument('# only a remark\n').value).toBeNull()
  })

  test('__proto__ is a name like any other', () => {
    for (const text of ['__proto__: {x: 1}', '{"__proto__": {"x": 1}}']) {
      const { value } = readDocument(text)
      expect(Object.keys(value as object)).toEqual(['__proto__'])
      expect((value as { x?: unknown }).x).toBeUndefined()
    }
  })
})

describe('what is refused', () => {
  test.each([
    ['a name given twice in YAML', 'a: 1\nb: 2\na: 3\n', ['3:1 this name is given twice']],
    ['a name given twice in JSON', '{"a": 1,\n "b": {"c": 1, "c": 2}}', ['2:16 "c" is given twice']],
    ['a second document', 'a: 1\n---\nb: 2\n', ['2:1 a second document begins here, and there may be only one']],
    ['a reference to nothing', 'a: 1\nb: [*x]\n', ['2:5 there is no "&x" before this']],
    ['a reference to itself', 'a: &a [*a]\n', ['1:8 this stands in "&a" itself']],
    ['an unknown tag', 'a: !secret x\n', ['1:4 unresolved tag: !secret']],
    ['a tab that indents', 'a:\n\tb: 1\n', ['2:1 tabs are not allowed as indentation']],
    ['a name that is no text', '? [a, b]\n: 1\n', [expect.stringContaining('1:3 ')]],
    ['JSON with a mistake', '{"a": 1\n"b": 2}', [expect.stringMatching(/^1:7 /), expect.stringMatching(/^1:7 /)]],
  ])('%s', (_, text, problems) => {
    expect(problemsOf(text)).toEqual(problems)
  })

  test('references that multiply', () => {
    const levels = Array.from({ length: 30 }, (_, level) =>
      level === 0 ? 'l0: &l0 [x, x]' : `l${level}: &l${level} [*l${level - 1}, *l${level - 1}]`,
    )
    expect(problemsOf(levels.join('\n'))).toEqual([
      '1:1 the references (*) multiply to more than this can be meant to be',
    ])
  })

  test('nesting without end', () => {
    expect(problemsOf('['.repeat(50_000))[0]).toMatch(/^1:\d+ this is nested too deeply$/)
    expect(problemsOf('a:\n  - '.repeat(1) + '- '.repeat(50_000))[0]).toMatch(/^\d+:\d+ this is nested too deeply$/)
  })

  test('a YAML document that would take minutes', () => {
    expect(problemsOf(`a: ${'x'.repeat(8 * 1024 * 1024)}`)).toEqual(['1:1 YAML may have at most 8 MiB'])
  })
})
