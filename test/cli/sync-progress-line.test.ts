import { expect, test } from 'vitest'
import type { Progress } from '../../src/client/sync/report/events.ts'
import { makeProgressLine } from '../../src/cli/sync/progress-line.ts'

const base: Progress = {
  files: 500,
  of_files: 2_000,
  bytes: 1_048_576,
  of_bytes: 4 * 1_048_576,
  part: 0.25,
  seconds_left: 30,
  limited_by: null,
}

function lines(progress: Partial<Progress>, { isTTY = true, columns = 100 } = {}): string[] {
  const written: string[] = []
  let time = 0
  const line = makeProgressLine({ screen: { isTTY, columns, write: (text) => written.push(text) }, now: () => time })
  time = 2_000
  line.show({ ...base, ...progress })
  line.end()
  return written
}

const bar = '██████░░░░░░░░░░░░░░░░░░  25 %'

test('it tells how far a run is, how fast, and how long it will take', () => {
  expect(lines({})).toEqual([`\r\u001b[K2,000 files  ${bar}  1 MB of 4 MB  512 KB/s  30 s left`, '\r\u001b[K'])
  expect(lines({ seconds_left: null })[0]).toBe(`\r\u001b[K2,000 files  ${bar}  1 MB of 4 MB  512 KB/s`)
})

test('it tells what limits a run', () => {
  const limited_by = { limit: 'sync_upload', max: 60, per: 60 }
  expect(lines({ limited_by, of_files: 12_000, seconds_left: 180 })[0]).toBe(
    `\r\u001b[K12,000 files  ${bar}  500 done, limited by upload: 60/min, about 3 min`,
  )
  const odd = { limit: 'sync_of_tomorrow', max: 5, per: 10 }
  expect(lines({ limited_by: odd })[0]).toContain('limited by requests: 5/10 s, about 30 s')
})

test('it is never wider than the screen, and nothing where there is none', () => {
  expect(lines({}, { columns: 40 })[0]!.length).toBe('\r\u001b[K'.length + 39)
  expect(lines({}, { isTTY: false })).toEqual([])
})
