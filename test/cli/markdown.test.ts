import { Chalk } from 'chalk'
import { describe, expect, test } from 'vitest'
import { parseBlocks, renderBlocks } from '../../src/cli/markdown.ts'
import { stepsOf } from '../support/work.ts'

const render = (source: string, width = 40, level: 0 | 2 = 0): string[] =>
  renderBlocks(parseBlocks(source), { paint: new Chalk({ level }), width })

describe('Markdown on a terminal', () => {
  test('has its blocks apart and its lines wrapped between words', () => {
    expect(render('# Title\n\nSome **bold** words that go on for longer than a line.\nStill `here`.', 30)).toEqual([
      'Title',
      '',
      'Some bold words that go on for',
      'longer than a line. Still',
      'here.',
    ])
  })

  test('has lists with their numbers, levels and boxes', () => {
    expect(render('9. nine\n10. ten\n    - below\n\n- [x] done\n- [ ] open')).toEqual([
      ' 9. nine',
      '10. ten',
      '    • below',
      '',
      '[x] done',
      '[ ] open',
    ])
    expect(render('- one long item that is wrapped', 16)).toEqual(['• one long item', '  that is', '  wrapped'])
  })

  test('has tables in columns, also of wide characters', () => {
    expect(render('| Day | Hours |\n|---|--:|\n| 日本 | 3 |\n| Mon | 12 |')).toEqual([
      'Day   Hours',
      '日本      3',
      'Mon      12',
    ])
  })

  test('has code as it is, quotations and rules', () => {
    expect(render('```js\nconst a = 1\n\n  b\n```\n\n> said\n> so\n\n---', 10)).toEqual([
      '  const a = 1',
      '  ',
      '    b',
      '',
      '│ said so',
      '',
      '──────────',
    ])
  })

  test('shows where links lead and fetches no pictures', () => {
    expect(render('[bank](https://evil.example/x) and ![](https://evil.example/?q=secret)', 80)).toEqual([
      'bank (https://evil.example/x) and [picture: without a name]',
    ])
    expect(render('<https://example.com>')).toEqual(['https://example.com'])
  })

  test.each([
    ['text', 'a\u001b[2J\u0007b\u009b31mc\u202ed'],
    ['code', '```\n\u001b]0;title\u0007\n```'],
    ['a span', '`\u001b[31m`'],
    ['a link', '[x](https://a.example/\u001b[31m)'],
    ['a table', '| \u001b[2J |\n|---|\n| \u0008 |'],
    ['HTML', '<b onclick="\u001b[2J">x</b>'],
    ['an entity', '&#27;[2J'],
  ])('lets no control character of %s through', (_where, source) => {
    // oxlint-disable-next-line no-control-regex
    expect(render(source).join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  test.each([
    ['quotations', '>'.repeat(50_000)],
    ['lists', Array.from({ length: 500 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n')],
    ['stars', '*'.repeat(20_000)],
    ['brackets', '['.repeat(20_000)],
    ['ticks', '`a'.repeat(10_000)],
    ['links', '[a]('.repeat(5_000)],
    ['emphasis', '**a '.repeat(5_000)],
  ])('is not held up by nested %s', async (_kind, source) => {
    const steps = await stepsOf(() => expect(render(source).join('').length).toBeGreaterThan(0))
    expect(steps).toBeLessThan(1_000)
  })
})
