import { expect, test } from 'vitest'
import { makeDebounce } from '../../../../src/client/sync/local/debounce.ts'

test('a run follows an edit when it has been quiet for a moment, and a stream of edits does not put it off for ever', () => {
  const settling = makeDebounce()
  expect(settling.due()).toBeUndefined()
  settling.add('edit', 1_000)
  expect(settling.due()).toBe(1_400)
  for (let now = 1_100; now < 9_000; now += 100) settling.add('edit', now)
  expect(settling.due()).toBe(2_500)
  settling.clear()
  expect(settling.due()).toBeUndefined()
  settling.add('news', 9_000)
  expect(settling.due()).toBe(9_100)
})

test('what goes away gets a little longer to come back, whatever comes after it', () => {
  const settling = makeDebounce()
  settling.add('gone', 1_000)
  expect(settling.due()).toBe(2_500)
  settling.add('edit', 1_050)
  settling.add('news', 1_060)
  expect(settling.due()).toBe(2_500)
  settling.add('gone', 3_900)
  expect(settling.due()).toBe(4_000)
})
