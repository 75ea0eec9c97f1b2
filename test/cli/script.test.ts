import { expect, test } from 'vitest'
import { isExpected, parseScript, splitWords } from './script.ts'

test('a script is read as steps', () => {
  const [first, second] = parseScript(
    [
      '# remark',
      '> a.txt one two',
      '% {"text":"Hi"}',
      '$ svc do',
      '< in',
      'out',
      '',
      'more',
      '',
      '! err',
      '? 2',
      '$ svc serve &',
      'ready',
      '',
    ].join('\n'),
  )
  expect(first).toEqual({
    line: 4,
    command: 'svc do',
    background: false,
    files: [{ name: 'a.txt', text: 'one two\n' }],
    replies: ['{"text":"Hi"}'],
    stdin: 'in\n',
    stdout: ['out', '', 'more'],
    stderr: ['err'],
    code: 2,
  })
  expect(second).toMatchObject({
    line: 12,
    command: 'svc serve',
    background: true,
    files: [],
    stdout: ['ready'],
    code: 0,
  })
  expect(() => parseScript('out')).toThrow('line 1')
})

test('quotes hold words together', () => {
  expect(splitWords(`svc set --name "Ada L" --x='a "b"' ''`)).toEqual([
    'svc',
    'set',
    '--name',
    'Ada L',
    '--x=a "b"',
    '',
  ])
})

test.each([
  ['', [], true],
  ['a\n', [], false],
  ['', ['a'], false],
  ['a\n', ['a'], true],
  ['a', ['a'], true],
  ['ab\n', ['a'], false],
  ['a\nb\n', ['a'], false],
  ['a.b\n', ['a.b'], true],
  ['axb\n', ['a.b'], false],
  ['id 17 made\n', ['id … made'], true],
  ['id 1\n7 made\n', ['id … made'], false],
  ['a\nb\nc\nd\n', ['a', '...', 'd'], true],
  ['a\nd\n', ['a', '...', 'd'], true],
  ['a\nb\n', ['a', '...', 'd'], false],
  ['', ['...'], true],
])('%j as %j: %s', (printed, expected, verdict) => {
  expect(isExpected(printed, expected)).toBe(verdict)
})
