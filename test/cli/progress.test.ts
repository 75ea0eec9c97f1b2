import { expect, test } from 'vitest'
import { makeProgress } from '../../src/cli/progress.ts'

function setUp(isTTY: boolean, total: number | undefined) {
  const written: string[] = []
  let time = 0
  const screen = { isTTY, columns: 80, write: (text: string) => written.push(text) }
  const progress = makeProgress({ label: 'film\u001b.mkv', total, output: screen, now: () => time })
  return { written, progress, at: (ms: number) => (time = ms) }
}

test('nothing is written where there is no terminal', () => {
  const { written, progress, at } = setUp(false, 1_000)
  at(10_000)
  progress.add(500)
  progress.end()
  expect(written).toEqual([])
})

test('nothing is shown for what is over soon', () => {
  const { written, progress, at } = setUp(true, 1_000)
  at(300)
  progress.add(1_000)
  progress.end()
  expect(written).toEqual([])
})

test('a line shows how far it is, how fast, and how long it will take', () => {
  const { written, progress, at } = setUp(true, 4 * 1_048_576)
  at(1_000)
  progress.add(1_048_576)
  expect(written).toEqual(['\r\u001b[Kfilm\ufffd.mkv  ██████░░░░░░░░░░░░░░░░░░  25 %  1 MB of 4 MB  1 MB/s  3 s left'])
  at(1_050)
  progress.add(1)
  expect(written).toHaveLength(1)
  progress.end()
  expect(written.slice(1)).toEqual(['\r\u001b[K'])
})

test('without a total it shows what came, and never more than the screen is wide', () => {
  const { written, progress, at } = setUp(true, undefined)
  at(2_000)
  progress.add(2_048)
  expect(written).toEqual(['\r\u001b[Kfilm\ufffd.mkv  2 KB  1 KB/s'])
  const narrow: string[] = []
  let time = 0
  const screen = { isTTY: true, columns: 20, write: (text: string) => narrow.push(text) }
  const other = makeProgress({ label: 'x'.repeat(50), total: 10, output: screen, now: () => time })
  time = 5_000
  other.add(5)
  expect(narrow).toEqual([`\r\u001b[K${'x'.repeat(19)}`])
})
