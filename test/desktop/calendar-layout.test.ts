import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { addDays, daysBetween } from '../../src/desktop/kit/days.ts'
import { MIN_MINUTES, placeBars, placeSideBySide, type Stretch } from '../../src/desktop/apps/calendar/event-layout.ts'
import { draggedTimes, drawnTimes, resized, shifted } from '../../src/desktop/apps/calendar/new-times.ts'

const stretches = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 1_439 }), fc.integer({ min: 0, max: 600 }))
    .map(([begin, length]): Stretch => ({ begin, end: Math.min(1_440, begin + length) })),
  { maxLength: 40 },
)

test('events that overlap are side by side, inside their day, and none is lost', () => {
  fc.assert(
    fc.property(stretches, (some) => {
      const placed = placeSideBySide(some)
      expect(new Set(placed.map(({ of }) => of))).toEqual(new Set(some))
      for (const { left, width } of placed) {
        expect(left).toBeGreaterThanOrEqual(0)
        expect(width).toBeGreaterThan(0)
        expect(left + width).toBeLessThanOrEqual(1 + 1e-9)
      }
      const endOf = ({ begin, end }: Stretch): number => Math.max(end, begin + MIN_MINUTES)
      for (const a of placed)
        for (const b of placed) {
          if (a === b || a.of.begin >= endOf(b.of) || b.of.begin >= endOf(a.of)) continue
          expect(a.left + a.width <= b.left + 1e-9 || b.left + b.width <= a.left + 1e-9).toBe(true)
        }
    }),
  )
})

test('an event that overlaps none has the whole width, and one beside a free column takes it', () => {
  const [long, first, second] = [
    { begin: 0, end: 300 },
    { begin: 0, end: 60 },
    { begin: 30, end: 90 },
  ]
  const alone = { begin: 600, end: 660 }
  const late = { begin: 120, end: 180 }
  const placed = new Map(placeSideBySide([alone, late, second, first, long]).map((one) => [one.of, one]))
  expect(placed.get(alone)).toMatchObject({ left: 0, width: 1 })
  expect(placed.get(late)).toMatchObject({ left: 1 / 3, width: 2 / 3 })
  expect(placed.get(long)).toMatchObject({ left: 0, width: 1 / 3 })
})

const week = Array.from({ length: 7 }, (_, index) => addDays('2027-03-10', index))

test('bars of a lane share no day, and are cut where the week begins and ends', () => {
  const ranges = fc.array(
    fc
      .tuple(fc.integer({ min: -10, max: 12 }), fc.integer({ min: 0, max: 20 }))
      .map(([from, days]) => ({ first: addDays('2027-03-10', from), last: addDays('2027-03-10', from + days) })),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(ranges, (some) => {
      const bars = placeBars(week, some)
      const visible = some.filter(({ first, last }) => first <= week[6]! && last >= week[0]!)
      expect(new Set(bars.map(({ of }) => of))).toEqual(new Set(visible))
      const taken = new Set<string>()
      for (const { of, lane, from, days, isCutAtStart, isCutAtEnd } of bars) {
        expect(isCutAtStart).toBe(of.first < week[0]!)
        expect(isCutAtEnd).toBe(of.last > week[6]!)
        for (let day = from; day < from + days; day++) {
          expect(day >= 0 && day < 7).toBe(true)
          expect(taken.has(`${lane}/${day}`)).toBe(false)
          taken.add(`${lane}/${day}`)
        }
      }
    }),
  )
})

const spanOf = (starts_at: string, ends_at: string | null, all_day = false) => ({
  start: Date.parse(starts_at),
  end: Date.parse(ends_at ?? starts_at),
  first: starts_at.slice(0, 10),
  last: all_day ? addDays(ends_at!.slice(0, 10), -1) : starts_at.slice(0, 10),
  event: { all_day, ends_at },
})

test('an event keeps its time by the clock and its length when it is moved over the change to daylight saving', () => {
  vi.stubEnv('TZ', 'America/New_York')
  const span = spanOf('2027-03-13T14:00:00.000Z', '2027-03-13T16:00:00.000Z')
  expect(shifted(span, 1)).toEqual({
    all_day: false,
    starts_at: '2027-03-14T13:00:00.000Z',
    ends_at: '2027-03-14T15:00:00.000Z',
  })
  // 02:30 does not exist on that day: the event is an hour later by the clock.
  const early = spanOf('2027-03-13T07:30:00.000Z', null)
  expect(shifted(early, 1)).toEqual({ all_day: false, starts_at: '2027-03-14T07:30:00.000Z', ends_at: null })
  expect(new Date('2027-03-14T07:30:00Z').getHours()).toBe(3)
})

test('an event never ends before it begins', () => {
  const span = spanOf('2027-03-13T14:00:00.000Z', '2027-03-13T16:00:00.000Z')
  expect(resized(span, -3).ends_at).toBe('2027-03-13T14:15:00.000Z')
  const days = spanOf('2027-03-13T00:00:00Z', '2027-03-16T00:00:00Z', true)
  expect(resized(days, -9)).toEqual({
    all_day: true,
    starts_at: '2027-03-13T00:00:00Z',
    ends_at: '2027-03-14T00:00:00Z',
  })
  expect(shifted(days, 30)).toMatchObject({ starts_at: '2027-04-12T00:00:00Z', ends_at: '2027-04-15T00:00:00Z' })
})

test('dragging snaps to quarters of an hour, and drawing works in both directions', () => {
  vi.stubEnv('TZ', 'UTC')
  const span = spanOf('2027-03-13T14:05:00.000Z', '2027-03-13T15:05:00.000Z')
  const times = draggedTimes('move', span, { day: '2027-03-13', minute: 850 }, { day: '2027-03-15', minute: 800 })
  expect(times).toMatchObject({ starts_at: '2027-03-15T13:20:00.000Z', ends_at: '2027-03-15T14:20:00.000Z' })
  const [a, b] = [
    { day: '2027-03-13', minute: 607 },
    { day: '2027-03-13', minute: 704 },
  ]
  const drawn = { all_day: false, starts_at: '2027-03-13T10:00:00.000Z', ends_at: '2027-03-13T11:45:00.000Z' }
  expect(drawnTimes(a, b)).toEqual(drawn)
  expect(drawnTimes(b, a)).toEqual(drawn)
  expect(drawnTimes({ day: '2027-03-15', minute: undefined }, { day: '2027-03-13', minute: undefined })).toEqual({
    all_day: true,
    starts_at: '2027-03-13T00:00:00Z',
    ends_at: '2027-03-16T00:00:00Z',
  })
  expect(daysBetween('2027-03-15', '2027-03-13')).toBe(-2)
})
