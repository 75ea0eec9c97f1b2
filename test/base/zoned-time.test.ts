import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isZone, momentOf, wallOf } from '../../src/base/zoned-time.ts'

const wall = (text: string): number => Date.parse(`${text}Z`)
const momentIn = (text: string, zone: string): string => new Date(momentOf(wall(text), zone)).toISOString()

test('times of a zone become moments, also those that daylight saving skips or repeats', () => {
  expect(momentIn('2026-11-26T09:00:00', 'Europe/Berlin')).toBe('2026-11-26T08:00:00.000Z')
  expect(momentIn('2026-07-26T09:00:00', 'Europe/Berlin')).toBe('2026-07-26T07:00:00.000Z')
  expect(momentIn('2026-07-26T09:00:00', 'Asia/Kathmandu')).toBe('2026-07-26T03:15:00.000Z')
  // Skipped: counted with the offset from before. Repeated: the first one.
  expect(momentIn('2026-03-29T02:30:00', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
  expect(momentIn('2026-10-25T02:30:00', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z')
  expect(momentIn('2027-03-14T02:30:00', 'America/New_York')).toBe('2027-03-14T07:30:00.000Z')
  expect(momentIn('1883-01-01T12:00:00', 'UTC')).toBe('1883-01-01T12:00:00.000Z')
})

test('every moment is shown by a clock, and most times lead back to it', () => {
  const zones = fc.constantFrom('Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC')
  const moments = fc.integer({ min: Date.parse('1975-01-01'), max: Date.parse('2037-01-01') })
  fc.assert(
    fc.property(zones, moments, (zone, moment) => {
      const shown = wallOf(moment, zone)
      // Of a repeated hour, the first.
      const back = momentOf(shown, zone)
      expect(wallOf(back, zone)).toBe(shown)
      expect(back).toBeLessThanOrEqual(moment)
    }),
  )
})

test('only names of zones are zones', () => {
  expect(isZone('Europe/Berlin')).toBe(true)
  for (const name of ['', 'Nowhere/City', 'W. Europe Standard Time', '\n']) expect(isZone(name)).toBe(false)
})
