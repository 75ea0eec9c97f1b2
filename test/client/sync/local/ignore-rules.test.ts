import { expect, test } from 'vitest'
import { makeIgnoreRules, type IgnoreRules } from '../../../../src/client/sync/local/ignore-rules.ts'
import { stepsOf } from '../../../support/work.ts'

const rulesOf = (files: Record<string, string>, fold = false): IgnoreRules => {
  const rules = makeIgnoreRules(fold)
  for (const [folder, text] of Object.entries(files)) rules.add(folder, text)
  return rules
}

/** The line that ignores a path, asked for as a walk does: folders first. A path that ends with a slash is a folder. */
function lineFor(rules: IgnoreRules, path: string): string | undefined {
  const isFolder = path.endsWith('/')
  const names = path.replace(/\/$/, '').slice(1).split('/')
  for (const at of names.keys()) {
    const found = rules.find(`/${names.slice(0, at + 1).join('/')}`, isFolder || at < names.length - 1)
    if (found) return `${found.file}:${found.line}`
  }
  return undefined
}

test.each([
  ['*.log', '/a.log', true],
  ['*.log', '/deep/er/a.log', true],
  ['*.log', '/a.log.txt', false],
  ['/a.log', '/d/a.log', false],
  ['build/', '/build/', true],
  ['build/', '/build', false],
  ['build/', '/src/build/x', true],
  ['doc/*.txt', '/doc/a.txt', true],
  ['doc/*.txt', '/doc/er/a.txt', false],
  ['doc/*.txt', '/x/doc/a.txt', false],
  ['doc/**/*.txt', '/doc/er/a.txt', true],
  ['**/cache', '/a/b/cache', true],
  ['*\n!keep.txt', '/keep.txt', false],
  ['*\n!keep.txt', '/other.txt', true],
  ['d/*\n!d/keep', '/d/keep', false],
  ['d/\n!d/keep', '/d/keep', true],
  ['*.txt\n!*.txt\n/a.txt', '/a.txt', true],
  ['# a comment\n\n  \n', '/a', false],
  ['\\#odd', '/#odd', true],
  ['\\!odd', '/!odd', true],
  ['trailing   ', '/trailing', true],
  ['a\r\nb\r\n', '/b', true],
  ['\uFEFFbom', '/bom', true],
  ['[ab].txt', '/b.txt', true],
  ['?.txt', '/bb.txt', false],
  ['cafe\u0301', '/caf\u00e9', true],
  ['A.TXT', '/a.txt', false],
])('%j ignores %s: %s', (text, path, expected) => {
  expect(lineFor(rulesOf({ '/': text }), path) !== undefined).toBe(expected)
})

test('rules of deeper folders come after those above, and reach no further than their folder', () => {
  const rules = rulesOf({ '/': '*.tmp/\n*.log', '/a [b]': '!x.tmp/\n!keep.log\n/only-here\nsub/here' })
  expect(lineFor(rules, '/a [b]/x.tmp/f')).toBe(undefined)
  expect(lineFor(rules, '/c/x.tmp/f')).toBe('/.svcignore:1')
  expect(lineFor(rules, '/a [b]/deep/keep.log')).toBe(undefined)
  expect(lineFor(rules, '/keep.log')).toBe('/.svcignore:2')
  expect(lineFor(rules, '/a [b]/only-here')).toBe('/a [b]/.svcignore:3')
  expect(lineFor(rules, '/a [b]/deep/only-here')).toBe(undefined)
  expect(lineFor(rules, '/only-here')).toBe(undefined)
  expect(lineFor(rules, '/a [b]/sub/here')).toBe('/a [b]/.svcignore:4')
})

test('where the file system folds case, so do rules', () => {
  const rules = rulesOf({ '/': 'Thumbs.db\n*.JPG' }, true)
  expect([lineFor(rules, '/thumbs.DB'), lineFor(rules, '/a.jpg')]).toEqual(['/.svcignore:1', '/.svcignore:2'])
})

test('what stands apart for a moment while it is moved is always ignored', () => {
  expect(rulesOf({}).find('/d/.svc-tmp-0123456789ab-x', false)).toEqual({ file: '', line: 0, pattern: '.svc-tmp-*' })
})

test.each([
  ['x'.repeat(2_000), 'Line 1 of .svcignore has more than 1000 characters'],
  ['a/**/b/**/c/**/d/**/e/**', 'Line 1 of .svcignore contains ** more than 4 times'],
  [Array.from({ length: 301 }, (_, at) => `${at}*x`).join('\n'), 'Line 301 of .svcignore is number 301 of the rules'],
  [Array.from({ length: 20_001 }, (_, at) => `${at}`).join('\n'), 'Line 20001 of .svcignore is rule number 20001'],
])('rules that would take too long are refused', (text, message) => {
  expect(() => rulesOf({ '/': text })).toThrow(message)
})

test('thousands of rules and hostile ones are looked through with little work', async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `name-${at}`)
  const extensions = Array.from({ length: 5_000 }, (_, at) => `*.x${at}`)
  const rules = rulesOf({ '/': [...names, ...extensions, '*a*a*a*a*a*a*a*a*b', '**/a/**/a/**/b'].join('\n') })
  const steps = await stepsOf(() => {
    for (let at = 0; at < 5_000; at += 1) rules.find(`/folder-${at % 50}/file-${at}.txt`, false)
    for (let at = 0; at < 50; at += 1) rules.find(`/${'a'.repeat(200)}${at}`, false)
    rules.find('/a'.repeat(60), false)
  })
  expect(steps).toBeLessThan(1_000)
  expect(lineFor(rules, '/d/name-9999')).toBe('/.svcignore:10000')
})
