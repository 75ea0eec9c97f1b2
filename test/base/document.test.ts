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

const problemsOf = (text: string): Promise<string[]> =>
  readDocument(text).then(
    () => [],
    (error: unknown) => {
      if (error instanceof BadDocument) return error.message.split('\n')
      throw error
    },
  )

const placed = async (text: string, path: Path): Promise<string> => {
  const { line, column } = (await readDocument(text)).placeOf(path)
  return `${line}:${column}`
}

describe('places', () => {
  const json = async () => JSON.stringify((await readDocument(YAML)).value, null, 2)

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
  ])('%j stands at %s in YAML and at %s in JSON', async (path, inYaml, inJson) => {
    expect(await placed(YAML, path)).toBe(inYaml)
    expect(await placed(await json(), path)).toBe(inJson)
  })

  test('names with escapes and braces in texts do not mislead in JSON', async () => {
    const text = '{"a\\"b": "}]{\\\\", "c": [{"x": "\\"", "y": 1}]}'
    expect(await placed(text, ['c', 0, 'y'])).toBe('1:37')
    expect(await placed(text, ['a"b'])).toBe('1:2')
  })
})

describe('values', () => {
  test('dates and words stay texts', async () => {
    expect((await readDocument('a: 2026-11-21\nb: no\nc: 012\nd: null\n')).value).toEqual({
      a: '2026-11-21',
      b: 'no',
      c: 12,
      d: null,
    })
  })

  test('a mark of the byte order is no part of it', async () => {
    expect((await readDocument('\ufeffa: 1')).value).toEqual({ a: 1 })
    expect((await readDocument('\ufeff{"a": 1}')).value).toEqual({ a: 1 })
  })

  test('nothing is null', async () => {
    expect((await readDocument('')).value).toBeNull()
    expect((await readDocument('# only a remark\n')).value).toBeNull()
  })

  test('__proto__ is a name like any other', async () => {
    for (const text of ['__proto__: {x: 1}', '{"__proto__": {"x": 1}}']) {
      const { value } = await readDocument(text)
      expect(Object.keys(value as object)).toEqual(['__proto__'])
      expect((value as { x?: unknown }).x).toBeUndefined()
    }
  })
})

describe('what is refused', () => {
  test.each([
    ['a name given twice in YAML', 'a: 1\nb: 2\na: 3\n', ['3:1 this name is given twice']],
    ['a name given twice in JSON', '{"a": 1,\n "b": {"c": 1, "c": 2}}', ['2:16 "c" is given twice']],
    ['a second document', 'a: 1\n---\nb: 2\n', ['2:1 a second document begins here, and only one is allowed']],
    ['a reference to nothing', 'a: 1\nb: [*x]\n', ['2:5 there is no "&x" before this point']],
    ['a reference to itself', 'a: &a [*a]\n', ['1:8 "&a" contains itself']],
    ['an unknown tag', 'a: !secret x\n', ['1:4 unresolved tag: !secret']],
    ['a tab that indents', 'a:\n\tb: 1\n', ['2:1 tabs are not allowed as indentation']],
    ['a name that is no text', '? [a, b]\n: 1\n', [expect.stringContaining('1:3 ')]],
    ['JSON with a mistake', '{"a": 1\n"b": 2}', [expect.stringMatching(/^1:7 /), expect.stringMatching(/^1:7 /)]],
  ])('%s', async (_, text, problems) => {
    expect(await problemsOf(text)).toEqual(problems)
  })

  test('references that multiply', async () => {
    const levels = Array.from({ length: 30 }, (_, level) =>
      level === 0 ? 'l0: &l0 [x, x]' : `l${level}: &l${level} [*l${level - 1}, *l${level - 1}]`,
    )
    expect(await problemsOf(levels.join('\n'))).toEqual(['1:1 the references (*) expand to more than the limit'])
  })

  test('nesting without end', async () => {
    expect((await problemsOf('['.repeat(50_000)))[0]).toMatch(/^1:\d+ this is nested too deeply$/)
    expect((await problemsOf('a:\n  - '.repeat(1) + '- '.repeat(50_000)))[0]).toMatch(
      /^\d+:\d+ this is nested too deeply$/,
    )
  })

  test('nesting without end in JSON', async () => {
    expect(await problemsOf('['.repeat(50_000) + ']'.repeat(50_000))).toEqual(['1:201 this is nested too deeply'])
  })

  test('a YAML document that would take minutes', async () => {
    expect(await problemsOf(`a: ${'x'.repeat(8 * 1024 * 1024)}`)).toEqual(['1:1 YAML may have at most 8 MiB'])
  })
})
