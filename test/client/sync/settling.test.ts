import { expect, test } from 'vitest'
import { makeSettling } from '../../../src/client/sync/settling.ts'

test('a run follows an edit when it has been quiet for a moment, and a stream of edits does not put it off for ever', () => {
  const settling = makeSettling()
  expect(settling.due()).toBeUndefined()
  settling.note('edit', 1_000)
  expect(settling.due()).toBe(1_400)
  for (let now = 1_100; now < 9_000; now += 100) settling.note('edit', now)
  expect(settling.due()).toBe(2_500)
  settling.clear()
  expect(settling.due()).toBeUndefined()
  settling.note('news', 9_000)
  expect(settling.due()).toBe(9_100)
})

test('what goes away gets a little longer to come back, whatever comes after it', () => {
  const settling = makeSettling()
  settling.note('gone', 1_000)
  expect(settling.due()).toBe(2_500)
  settling.note('edit', 1_050)
  settling.note('news', 1_060)
  expect(settling.due()).toBe(2_500)
  settling.note('gone', 3_900)
  expect(settling.due()).toBe(4_000)
})
