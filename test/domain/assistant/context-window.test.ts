import { expect, test } from 'vitest'
import type { ModelMessage } from '../../../src/base/language-model.ts'
import { fitMessages } from '../../../src/domain/assistant/models/context-window.ts'

const result = (text: string): ModelMessage => ({ role: 'result', id: '1', name: 'read_file', text })

/** The bytes of what a model with 8,192 tokens is shown of results; 6,144 of them are free for messages. */
const shown = (...texts: string[]) =>
  fitMessages([{ role: 'system', text: '' }, { role: 'user', text: 'Read it.' }, ...texts.map(result)], {
    question: 1,
    context: 8_192,
    functions: [],
  })
    .slice(2)
    .map(({ text }) => [Buffer.byteLength(text), text.endsWith('[cut: no more room]')])

test('a result that does not fit is cut to the room there is, and the oldest first', () => {
  const page = 'x'.repeat(16_000)
  expect(shown(page)).toEqual([[16_000, false]])
  // In letters of two bytes a page has twice the size.
  const [[bytes, isCut]] = shown('д'.repeat(16_000)) as [[number, boolean]]
  expect(isCut).toBe(true)
  expect(bytes).toBeGreaterThan(18_000)
  expect(bytes).toBeLessThanOrEqual(6_144 * 3)
  const [older, newer] = shown(page, page) as [[number, boolean], [number, boolean]]
  expect(newer).toEqual([16_000, false])
  expect(older[1]).toBe(true)
  expect(older[0]).toBeGreaterThan(2_000)
  const [first, , last] = shown(page, page, page)
  expect([first, last]).toEqual([
    [400, true],
    [16_000, false],
  ])
})
