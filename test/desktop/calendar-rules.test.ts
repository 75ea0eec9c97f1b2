import { expect, test } from 'vitest'
import { expandRule } from '../../src/desktop/kit/recurrence/expand-rule.ts'
import { endedRule, movedRule, readRule, restOfRule, writeRule } from '../../src/desktop/kit/recurrence/rule.ts'
import {
  endOfDay,
  firstTimes,
  lastDay,
  movedSeries,
  type SeriesTimes,
} from '../../src/desktop/apps/calendar/series-times.ts'

const [FROM, TO] = [Date.parse('2026-01-01'), Date.parse('2027-01-01')]

/** Starts in 2026 of a rule that begins at a moment, in UTC. */
const starts = (rule: string, start: string, zone = 'Europe/Berlin', limit = 100): string[] | undefined =>
  expandRule({ rule, start: Date.parse(start), zone, from: FROM, to: TO, limit })?.map((at) =>
    new Date(at).toISOString().slice(0, 16),
  )

test('a rule keeps the hour of its zone when daylight saving begins and ends', () => {
  expect(starts('FREQ=WEEKLY;COUNT=3', '2026-03-20T08:00Z')).toEqual([
    '2026-03-20T08:00',
    '2026-03-27T08:00',
    '2026-04-03T07:00',
  ])
  // Half past two does not exist on 29 March; such an occurrence is left out (RFC 5545, 3.3.10).
  expect(starts('FREQ=DAILY;COUNT=3', '2026-03-28T01:30Z')).toEqual([
    '2026-03-28T01:30',
    '2026-03-30T00:30',
    '2026-03-31T00:30',
  ])
  expect(starts('FREQ=DAILY;UNTIL=20261026T225959Z', '2026-10-24T00:30Z')).toEqual([
    '2026-10-24T00:30',
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ])
})

test('days that a month lacks are left out', () => {
  expect(starts('FREQ=MONTHLY;COUNT=3', '2026-01-31T00:00Z', 'UTC')).toEqual([
    '2026-01-31T00:00',
    '2026-03-31T00:00',
    '2026-05-31T00:00',
  ])
  expect(starts('FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20260301', '2026-01-30T00:00Z', 'UTC')).toEqual([
    '2026-01-30T00:00',
    '2026-02-27T00:00',
  ])
  expect(starts('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', '2020-01-01T00:00Z', 'UTC')).toEqual([])
  expect(starts('FREQ=YEARLY', '1956-05-06T00:00Z', 'UTC')).toEqual(['2026-05-06T00:00'])
})

test('rules that are not valid or repeat too often are refused, and long answers are cut', () => {
  for (const rule of ['', 'X', 'FREQ=', 'FREQ=NEVER', 'FREQ=SECONDLY', 'FREQ=MINUTELY', 'FREQ=DAILY\nRDATE:20260101'])
    expect(starts(rule, '2026-01-01T00:00Z')).toBe(undefined)
  expect(starts('FREQ=DAILY', '2026-01-01T00:00Z', 'Nowhere/City')).toBe(undefined)
  expect(starts('FREQ=HOURLY', '2026-01-01T00:00Z')).toHaveLength(100)
})

const sameDay = (moment: string): string => moment.slice(0, 10)
const written = (text: string, first: string): string | undefined => {
  const rule = readRule(text, first, sameDay)
  return rule && writeRule(rule, first, false, (day) => Date.parse(`${day}T23:59:59Z`))
}

test('the editor reads what it can show, and writes the same', () => {
  for (const text of [
    'FREQ=DAILY',
    'FREQ=DAILY;INTERVAL=3;COUNT=5',
    'FREQ=WEEKLY',
    'FREQ=WEEKLY;BYDAY=MO,TH;UNTIL=20270131T235959Z',
    'FREQ=MONTHLY',
    'FREQ=MONTHLY;BYDAY=4TH',
    'FREQ=YEARLY',
  ])
    expect(written(text, '2026-11-26')).toBe(text)
  expect(written('FREQ=MONTHLY;BYMONTHDAY=26', '2026-11-26')).toBe('FREQ=MONTHLY')
  expect(written('FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=26;WKST=SU', '2026-11-26')).toBe('FREQ=YEARLY')
  expect(written('FREQ=MONTHLY;BYDAY=-1MO', '2026-11-30')).toBe('FREQ=MONTHLY;BYDAY=-1MO')
})

test('the editor leaves alone what it cannot show', () => {
  for (const text of [
    '',
    'FREQ=HOURLY',
    'FREQ=DAILY;BYDAY=MO,TU',
    'FREQ=MONTHLY;BYMONTHDAY=1,15',
    'FREQ=MONTHLY;BYDAY=2TU',
    'FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1',
    'FREQ=YEARLY;BYMONTH=3,9',
    'FREQ=WEEKLY;COUNT=0',
    'FREQ=WEEKLY;UNTIL=tomorrow',
    'FREQ=WEEKLY;BYDAY=1MO',
    'FREQ=DAILY;INTERVAL=-1',
    'RSCALE=CHINESE;FREQ=YEARLY',
  ])
    expect(written(text, '2026-11-26')).toBe(undefined)
})

test('a rule is ended, shortened, and follows its first day', () => {
  expect(endedRule('FREQ=DAILY;COUNT=9', Date.parse('2026-11-26T08:00Z'), false)).toBe(
    'FREQ=DAILY;UNTIL=20261126T075959Z',
  )
  expect(endedRule('FREQ=DAILY', Date.parse('2026-11-26'), true)).toBe('FREQ=DAILY;UNTIL=20261125')
  expect(restOfRule('FREQ=DAILY;COUNT=9', 4)).toBe('FREQ=DAILY;COUNT=5')
  expect(movedRule('FREQ=WEEKLY;BYDAY=SA,MO', '2026-11-28', '2026-11-27')).toBe('FREQ=WEEKLY;BYDAY=FR,SU')
  expect(movedRule('FREQ=MONTHLY;BYDAY=4TH', '2026-11-26', '2026-11-30')).toBe('FREQ=MONTHLY;BYDAY=-1MO')
  expect(movedRule('FREQ=MONTHLY;BYMONTHDAY=1,15', '2026-11-01', '2026-11-02')).toBe('FREQ=MONTHLY;BYMONTHDAY=1,15')
  expect(movedRule('FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=30', '2026-11-30', '2026-12-01')).toBe(
    'FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=1',
  )
})

const weekly: SeriesTimes = {
  all_day: false,
  starts_at: '2026-03-20T08:00:00.000Z',
  ends_at: '2026-03-20T09:00:00.000Z',
  tzid: 'Europe/Berlin',
  rrule: 'FREQ=WEEKLY;BYDAY=FR;UNTIL=20260430T215959Z',
  rdates: null,
  exdates: ['2026-03-27T08:00:00.000Z', '2026-04-03T07:00:00.000Z'],
}

test('a series that ended before a following one still ends before it after its rule is changed', () => {
  // 10:00 in Berlin; the following series begins on 23 November, whose occurrence the end leaves out.
  const series = { all_day: false, tzid: 'Europe/Berlin', starts_at: '2026-11-02T09:00:00Z' }
  const read = (rrule: string) => readRule(rrule, '2026-11-02', (moment) => lastDay(series, moment))!
  const weekly = read('FREQ=WEEKLY;UNTIL=20261123T085959Z')
  expect(weekly.until).toBe('2026-11-22')
  const daily = writeRule({ ...weekly, frequency: 'DAILY', weekdays: [] }, '2026-11-02', false, (day) =>
    endOfDay(series, day),
  )
  expect(daily).toBe('FREQ=DAILY;UNTIL=20261122T225959Z')
  expect(starts(daily, series.starts_at)!.at(-1)).toBe('2026-11-22T09:00')
  // An end with the start of an occurrence, or later on its day, includes it.
  expect(read('FREQ=WEEKLY;UNTIL=20261123T090000Z').until).toBe('2026-11-23')
  expect(read(daily).until).toBe('2026-11-22')
  // In winter the zone is an hour behind its summer time.
  const summer = { ...series, starts_at: '2026-10-05T08:00:00Z' }
  expect(lastDay(summer, '2026-11-02T08:59:59Z')).toBe('2026-11-01')
  expect(lastDay({ ...series, all_day: true, starts_at: '2026-11-02T00:00:00Z' }, '2026-11-23T00:00:00Z')).toBe(
    '2026-11-23',
  )
})

test('a series that moves takes along what is left out, by its own clock', () => {
  const later = { starts_at: '2026-03-21T09:30:00.000Z', ends_at: '2026-03-21T10:30:00.000Z', all_day: false }
  expect(movedSeries(weekly, later)).toMatchObject({
    ...later,
    rrule: 'FREQ=WEEKLY;BYDAY=SA;UNTIL=20260501T215959Z',
    // 28 March and 4 April at half past ten; summer time begins between them.
    exdates: ['2026-03-28T09:30:00.000Z', '2026-04-04T08:30:00.000Z'],
  })
  const before = { all_day: false, starts_at: '2026-04-10T07:00:00.000Z', ends_at: '2026-04-10T08:00:00.000Z' }
  const after = { all_day: false, starts_at: '2026-04-10T10:00:00.000Z', ends_at: '2026-04-10T10:30:00.000Z' }
  expect(firstTimes(weekly, before, after)).toEqual({
    all_day: false,
    starts_at: '2026-03-20T11:00:00.000Z',
    ends_at: '2026-03-20T11:30:00.000Z',
  })
})

test('a series without a rule moves with its dates, and gets no rule', () => {
  const dates = { ...weekly, rrule: null, rdates: ['2026-04-03T07:00:00.000Z'], exdates: null }
  const later = { starts_at: '2026-03-21T09:30:00.000Z', ends_at: null, all_day: false }
  expect(movedSeries(dates, later)).toMatchObject({ ...later, rrule: null, rdates: ['2026-04-04T08:30:00.000Z'] })
})

test('a series that moves ends with the same occurrence', () => {
  const daily = { ...weekly, starts_at: '2026-06-01T07:00:00.000Z', ends_at: null, exdates: null }
  const move = (rrule: string, starts_at: string, all_day = false, from: SeriesTimes = daily) => {
    const moved = movedSeries({ ...from, rrule }, { all_day, starts_at, ends_at: null })
    return { rrule: moved.rrule, starts: starts(moved.rrule!, moved.starts_at, moved.tzid ?? 'UTC') }
  }
  // Ended before the one at 9:00 on 4 June, and moved to 8:00.
  expect(move('FREQ=DAILY;UNTIL=20260604T065959Z', '2026-06-01T06:00:00.000Z')).toEqual({
    rrule: 'FREQ=DAILY;UNTIL=20260604T055959Z',
    starts: ['2026-06-01T06:00', '2026-06-02T06:00', '2026-06-03T06:00'],
  })
  // Ended with the start of the last one, and moved to 10:00.
  expect(move('FREQ=DAILY;UNTIL=20260602T070000Z', '2026-06-01T08:00:00.000Z').starts).toEqual([
    '2026-06-01T08:00',
    '2026-06-02T08:00',
  ])
  // Ended with a day: another hour leaves the day, the next day takes it along, also in winter.
  expect(move('FREQ=DAILY;UNTIL=20260602T215959Z', '2026-06-01T20:00:00.000Z').rrule).toBe(
    'FREQ=DAILY;UNTIL=20260602T215959Z',
  )
  expect(move('FREQ=WEEKLY;UNTIL=20261020T215959Z', '2026-06-08T07:00:00.000Z').rrule).toBe(
    'FREQ=WEEKLY;UNTIL=20261027T225959Z',
  )
  const days = { ...daily, all_day: true, tzid: null, starts_at: '2026-06-01T00:00:00.000Z' }
  expect(move('FREQ=DAILY;UNTIL=20260602', '2026-06-02T00:00:00.000Z', true, days)).toEqual({
    rrule: 'FREQ=DAILY;UNTIL=20260603',
    starts: ['2026-06-02T00:00', '2026-06-03T00:00'],
  })
  // Whole days and hours.
  expect(move('FREQ=DAILY;UNTIL=20260604T065959Z', '2026-06-01T00:00:00.000Z', true).rrule).toBe(
    'FREQ=DAILY;UNTIL=20260603',
  )
  const inBerlin = { ...days, tzid: 'Europe/Berlin' }
  expect(move('FREQ=DAILY;UNTIL=20260602', '2026-06-01T07:00:00.000Z', false, inBerlin).rrule).toBe(
    'FREQ=DAILY;UNTIL=20260602T215959Z',
  )
  for (const rule of ['FREQ=DAILY;COUNT=3', 'FREQ=DAILY', 'FREQ=DAILY;UNTIL=TOMORROW', 'FREQ=DAILY;UNTIL=20261399'])
    expect(move(rule, '2026-06-01T06:00:00.000Z').rrule).toBe(rule)
})

test('a series that becomes one of whole days keeps its dates, and so does the reverse', () => {
  const day = { all_day: true, starts_at: '2026-03-20T00:00:00Z', ends_at: '2026-03-21T00:00:00Z' }
  const whole = movedSeries(weekly, day)
  expect(whole).toMatchObject({
    tzid: null,
    rrule: 'FREQ=WEEKLY;BYDAY=FR;UNTIL=20260430',
    exdates: ['2026-03-27T00:00:00.000Z', '2026-04-03T00:00:00.000Z'],
  })
  const { all_day, starts_at, ends_at } = weekly
  expect(movedSeries({ ...whole, tzid: 'Europe/Berlin' }, { all_day, starts_at, ends_at }).exdates).toEqual(
    weekly.exdates,
  )
})
