import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from '../../src/base/durations.ts'

test.each([
  ['90s', 90_000],
  ['15m', 900_000],
  ['1h30m', 5_400_000],
  ['2d', 172_800_000],
  ['250ms', 250],
  ['1m30s500ms', 90_500],
  ['10', 10_000],
  ['0', 0],
  ['0s', 0],
  [' 5m ', 300_000],
  ['999999999', 999_999_999_000],
  // Whether it is too long is for others to mind.
  ['999999999d'.repeat(2), 2 * 999_999_999 * 86_400_000],
])('%j is so many milliseconds: %i', (text, ms) => expect(parseDuration(text)).toBe(ms))

test.each(['', ' ', '-5', '1.5h', '5 m', '5x', 'm', '5mm', '1e3', '0x10', '1h-5m', 'P1D', '9999999999'])(
  '%j is no duration',
  (text) => expect(parseDuration(text)).toBeUndefined(),
)

test.each([
  [0, '0 s'],
  [-5, '0 s'],
  [499, '0 s'],
  [500, '1 s'],
  [59_000, '59 s'],
  [60_000, '1 min'],
  [125_000, '2 min 5 s'],
  [3_600_000, '1 h'],
  [3_605_000, '1 h 5 s'],
  [5_400_000, '1 h 30 min'],
  [273_600_000, '3 d 4 h'],
  [273_660_000, '3 d 4 h'],
  [86_399_999, '1 d'],
])('%i ms are shown as %j', (ms, text) => expect(formatDuration(ms)).toBe(text))
