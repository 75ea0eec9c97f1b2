import { expect, test } from 'vitest'
import { titleOf } from '../../../src/domain/assistant/title.ts'

test.each([
  ['What is on my list for Friday?', 'What is on my list for Friday?'],
  ['Sum up the report. Then mail it to Bob.', 'Sum up the report'],
  ['Hi! Please sum up the report for me. It is long.', 'Hi! Please sum up the report for me'],
  [
    'Sum up /Reports/v1.2/plan.md and e.g. the rest of it. Now.',
    'Sum up /Reports/v1.2/plan.md and e.g. the rest of it',
  ],
  ['Write to Dr. Who about the 3. May please. Soon.', 'Write to Dr. Who about the 3. May please'],
  ['And so on...', 'And so on...'],
  ['今日の予定を教えてください。明日もお願いします。', '今日の予定を教えてください。'],
  ['  \n\n two   words\there  \nand more', 'two words here'],
  ['# **Plan** for `svc`\n\ntext', 'Plan for svc'],
  ['> - [ ] 1) _Read_ the [manual](https://example.org/a) first', 'Read the manual first'],
  ['![A cat](cat.png) is ~~not~~ a snake_case_name', 'A cat is not a snake_case_name'],
  ['What is 3 * 4 and 2**8?', 'What is 3 * 4 and 2**8?'],
  ['---\n***\nBelow the lines', 'Below the lines'],
  ['```sh\nls -l\n```\nWhat does this do?', 'What does this do?'],
  ['```sh\nls -l\n```', 'ls -l'],
  ['Explain this:\n```\nx\n```', 'Explain this'],
  ['File "a.txt":\n```\nx\n```', 'File "a.txt"'],
  ['💡', '💡'],
  ['', 'New conversation'],
  ['?', 'New conversation'],
  ['\u001b[2Jclear', '[2Jclear'],
])('%j is titled %j', (message, title) => expect(titleOf(message)).toBe(title))

test('a title is cut between words, and never in the middle of a character', () => {
  const cut = titleOf(`Tell me ${'everything '.repeat(20)}`)
  expect(cut).toBe('Tell me everything everything everything everything…')
  for (const word of ['x'.repeat(5_000), '🜚'.repeat(5_000), `a${'🜚'.repeat(5_000)}`]) {
    const title = titleOf(word)
    expect([...title]).toHaveLength(60)
    expect(title.isWellFormed()).toBe(true)
  }
})

test('whatever is said, a title is made at once', () => {
  for (const piece of [
    '[',
    '![',
    '[a](',
    '*',
    '_ ',
    '_a',
    '`',
    '> ',
    '1. ',
    '. ',
    'a.',
    '<https://',
    '~',
    '# ',
    '"\'',
    '\n',
    ' ',
  ])
    expect(titleOf(piece.repeat(262_144 / piece.length)).length, piece).toBeLessThanOrEqual(120)
})
