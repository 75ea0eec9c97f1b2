import { expect, test } from 'vitest'
import { DAY, HOUR } from '../../../src/base/clock.ts'
import { applyRetention } from '../../../src/domain/backups/retention.ts'

const START = Date.UTC(2026, 0, 1, 3)
const none = { last: 0, daily: 0, weekly: 0, monthly: 0 }

/** One backup a night, named by the number of its day in the year from 1. */
const nightly = (days: number) =>
  Array.from({ length: days }, (_, day) => ({ id: String(day + 1), at: START + day * DAY }))

const kept = (backups: { id: string; at: number }[], keep: object): string[] =>
  applyRetention(backups, { ...none, ...keep })
    .filter(({ reasons }) => reasons.length > 0)
    .map(({ id }) => id)

test('the newest stays whatever is kept', () => {
  expect(kept(nightly(5), {})).toEqual(['5'])
  expect(kept([], {})).toEqual([])
})

test('the last ones stay', () => {
  expect(kept(nightly(5), { last: 3 })).toEqual(['5', '4', '3'])
})

test('of a day the newest stays', () => {
  const backups = [0, 5, 9, 24, 30].map((hours) => ({ id: `${hours}`, at: START + hours * HOUR }))
  expect(kept(backups, { daily: 7 })).toEqual(['30', '9'])
})

test('a day without a backup costs none of those that have one', () => {
  const backups = [0, 10, 20].map((days) => ({ id: `${days}`, at: START + days * DAY }))
  expect(kept(backups, { daily: 2 })).toEqual(['20', '10'])
})

test('weeks begin on Monday, also around the new year', () => {
  // 2026-01-01 is a Thursday; Sundays are the 4th and the 11th.
  expect(kept(nightly(12), { weekly: 3 })).toEqual(['12', '11', '4'])
  const around = [
    { id: 'monday before', at: Date.UTC(2025, 11, 29) },
    { id: 'sunday after', at: Date.UTC(2026, 0, 4) },
  ]
  expect(kept(around, { weekly: 5 })).toEqual(['sunday after'])
})

test('the rules add up', () => {
  const verdicts = applyRetention(nightly(100), { last: 2, daily: 3, weekly: 2, monthly: 12 })
  const reasons = Object.fromEntries(
    verdicts.filter((one) => one.reasons.length > 0).map(({ id, reasons: why }) => [id, why]),
  )
  // 2026-04-10 is the hundredth day, a Friday; the week before ended on the 95th; months end on 90, 59 and 31.
  expect(reasons).toEqual({
    '100': ['last', 'daily', 'weekly', 'monthly'],
    '99': ['last', 'daily'],
    '98': ['daily'],
    '95': ['weekly'],
    '90': ['monthly'],
    '59': ['monthly'],
    '31': ['monthly'],
  })
})

test('two of the same moment are told apart', () => {
  const twins = ['a', 'b'].map((id) => ({ id, at: START }))
  expect(kept(twins, { last: 1 })).toEqual(['b'])
})
