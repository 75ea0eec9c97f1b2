import { afterEach, describe, expect, test, vi } from 'vitest'
import { parseTime } from '../../src/cli/time-format.ts'

const now = Date.UTC(2026, 10, 21, 14, 30)

afterEach(() => vi.unstubAllEnvs())

const inZone = (zone: string) => vi.stubEnv('TZ', zone)
const said = (text: string, direction: 'ahead' | 'back', at = now): string | undefined => {
  const ms = parseTime(text, at, direction)
  return ms === undefined ? undefined : new Date(ms).toISOString()
}

describe('a moment ahead', () => {
  test.each([
    ['30m', '2026-11-21T15:00:00.000Z'],
    ['1h30m', '2026-11-21T16:00:00.000Z'],
    ['15:00', '2026-11-21T15:00:00.000Z'],
    ['14:31', '2026-11-21T14:31:00.000Z'],
    // Now is not ahead.
    ['14:30', '2026-11-22T14:30:00.000Z'],
    ['9:05', '2026-11-22T09:05:00.000Z'],
    ['2026-11-21T15:00', '2026-11-21T15:00:00.000Z'],
    ['2026-11-21 15:00:30', '2026-11-21T15:00:30.000Z'],
    ['2026-11-21T15:00Z', '2026-11-21T15:00:00.000Z'],
    ['2026-11-21T15:00:00+02:00', '2026-11-21T13:00:00.000Z'],
    ['2026-12-01', '2026-12-01T00:00:00.000Z'],
    // Whether it is past is for others to mind.
    ['2020-01-01', '2020-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, moment) => {
    inZone('UTC')
    expect(said(text, 'ahead')).toBe(moment)
  })
})

describe('a moment back', () => {
  test.each([
    ['24h', '2026-11-20T14:30:00.000Z'],
    ['14:30', '2026-11-21T14:30:00.000Z'],
    ['14:31', '2026-11-20T14:31:00.000Z'],
    ['14:29:59.123', '2026-11-21T14:29:59.123Z'],
    ['yesterday 14:29:59.5', '2026-11-20T14:29:59.500Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ])('%s is %s', (text, moment) => {
    inZone('UTC')
    expect(said(text, 'back')).toBe(moment)
  })
})

describe('no moment', () => {
  test.each([
    '',
    ' ',
    'soon',
    '25:00',
    '12:60',
    '12',
    '1500',
    '-5m',
    '2026-02-30',
    '2026-13-01',
    '2026-11-21T25:00',
    '15:00Z',
    'NaN',
  ])('is %s', (text) => expect(parseTime(text, now, 'ahead')).toBeUndefined())
})

test.each([
  ['99999999d', 'ahead'],
  ['99999999d', 'back'],
  ['999999999d999999999d', 'ahead'],
  ['0000-01-01', 'back'],
] as const)('%s %s is outside the years of a calendar', (text, direction) => {
  inZone('UTC')
  expect(() => parseTime(text, now, direction)).toThrow('is outside the years 1 to 9999')
})

test('a time of day is one of this machine, also over the night in which the clock changes', () => {
  inZone('Europe/Berlin')
  expect(said('16:00', 'ahead')).toBe('2026-11-21T15:00:00.000Z')
  // 25 October 2026, 03:00 becomes 02:00.
  expect(said('12:00', 'ahead', Date.UTC(2026, 9, 24, 11))).toBe('2026-10-25T11:00:00.000Z')
})
