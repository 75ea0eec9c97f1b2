import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/base/clock.ts'
import { expandRule, type Expansion } from '../../src/desktop/kit/recurrence/expand-rule.ts'
import { makeRingQueue, type Ringing } from '../../src/desktop/shell/reminders/ring-queue.ts'
import { ringMoment, type ReminderRow } from '../../src/desktop/shell/reminders/ring-times.ts'

const BERLIN = 'Europe/Berlin'
const at = (text: string): number => Date.parse(text)

describe('a reminder rings', () => {
  test.each([
    ['2026-11-26T18:00:00Z', 10, '2026-11-26T17:50:00.000Z'],
    ['2026-11-26T18:00:00Z', 0, '2026-11-26T18:00:00.000Z'],
    ['2026-11-26T18:00:00Z', -30, '2026-11-26T18:30:00.000Z'],
    // Hours are exact: an hour before 3:30 summer time is 1:30 winter time.
    ['2026-03-29T01:30:00Z', 60, '2026-03-29T00:30:00.000Z'],
    // Days keep the hour of the clock: 14:00 the day before is winter time.
    ['2026-03-29T12:00:00Z', 1_440, '2026-03-28T13:00:00.000Z'],
    // 2:30 of the day before is skipped: when the clock jumps.
    ['2026-03-30T00:30:00Z', 1_440, '2026-03-29T01:00:00.000Z'],
    // A day and ten minutes before: the minutes count from the jump.
    ['2026-03-30T00:30:00Z', 1_450, '2026-03-29T00:50:00.000Z'],
    // Of the hour that comes twice, the first.
    ['2026-10-26T01:30:00Z', 1_440, '2026-10-25T00:30:00.000Z'],
  ])('of an event at %s, %i minutes before: at %s', (start, minutes, moment) => {
    const rings = ringMoment({ isDay: false, zone: BERLIN }, at(start), minutes, 'America/New_York')
    expect(new Date(rings).toISOString()).toBe(moment)
  })

  test.each([
    ['2026-11-26', -540, BERLIN, '2026-11-26T08:00:00.000Z'],
    ['2026-11-26', 900, 'America/New_York', '2026-11-25T14:00:00.000Z'],
    ['2026-03-29', -150, BERLIN, '2026-03-29T01:00:00.000Z'],
  ])('of the day %s, %i minutes before midnight in %s: at %s', (day, minutes, zone, moment) => {
    expect(new Date(ringMoment({ isDay: true, zone: 'UTC' }, at(day), minutes, zone)).toISOString()).toBe(moment)
  })
})

const row = (more: Partial<ReminderRow> = {}): ReminderRow => ({
  id: 1,
  title: 'Choir',
  created_at: '2026-11-01T00:00:00Z',
  reminders: ['10'],
  reminded_at: null,
  snoozed_until: null,
  rrule: null,
  uid: 'choir',
  tzid: null,
  starts_at: '2026-11-26T18:00:00Z',
  all_day: false,
  ...more,
})

const task = (more: Partial<ReminderRow> = {}): ReminderRow => {
  const { starts_at: _start, all_day: _day, ...rest } = row()
  return { ...rest, due_on: '2026-11-26', due_time: '18:00', tzid: 'UTC', done: false, ...more }
}

/** A queue with a clock of its own; the answers of the worker arrive at once. */
function queueAt(start: string) {
  let clock = at(start)
  let expansions = 0
  const rings = new Map<string, Ringing>()
  const expand = async (expansion: Expansion) => {
    expansions++
    return expandRule(expansion)
  }
  const queue = makeRingQueue({
    now: () => clock,
    ownZone: BERLIN,
    expand,
    onChange: (key, one) => void (one ? rings.set(key, one) : rings.delete(key)),
  })
  const ringsAt = (moment: string): string[] => {
    clock = at(moment)
    queue.check()
    return [...rings.values()].map((one) => `${one.title} ${new Date(one.start).toISOString().slice(0, 16)}`)
  }
  const settle = () => new Promise((resolve) => setTimeout(resolve))
  return { queue, ringsAt, settle, expansions: () => expansions }
}

test('an event rings at its time, once it is due, until it is acknowledged; snoozed, it rings again', () => {
  const { queue, ringsAt } = queueAt('2026-11-26T17:00:00Z')
  queue.put('svc_events', row())
  expect(queue.wait()).toBe(50 * MINUTE)
  expect(ringsAt('2026-11-26T17:49:59Z')).toEqual([])
  expect(ringsAt('2026-11-26T17:50:00Z')).toEqual(['Choir 2026-11-26T18:00'])
  queue.put('svc_events', row({ reminded_at: '2026-11-26T17:50:00Z', snoozed_until: '2026-11-26T18:01:00Z' }))
  expect(ringsAt('2026-11-26T18:00:00Z')).toEqual([])
  expect(ringsAt('2026-11-26T18:01:00Z')).toEqual(['Choir 2026-11-26T18:00'])
  queue.put('svc_events', row({ reminded_at: '2026-11-26T18:01:00Z' }))
  expect(ringsAt('2026-11-27T18:01:00Z')).toEqual([])
})

test('a computer that slept rings when it wakes, and what was missed for a week or is older than the row does not', () => {
  const { queue, ringsAt } = queueAt('2026-11-26T12:00:00Z')
  queue.put('svc_events', row())
  queue.put('svc_events', row({ id: 2, title: 'Old', starts_at: '2026-11-18T12:00:00Z' }))
  queue.put(
    'svc_events',
    row({ id: 3, title: 'Imported', starts_at: '2026-11-25T12:00:00Z', created_at: '2026-11-26T11:00:00Z' }),
  )
  queue.put('svc_events', row({ id: 4, title: 'Missed', starts_at: '2026-11-25T12:00:00Z' }))
  expect(ringsAt('2026-11-26T12:00:00Z')).toEqual(['Missed 2026-11-25T12:00'])
  expect(ringsAt('2026-11-27T03:00:00Z')).toEqual(['Missed 2026-11-25T12:00', 'Choir 2026-11-26T18:00'])
})

test('several reminders of a row ring one after the other, the latest of those that were missed', () => {
  const { queue, ringsAt } = queueAt('2026-11-26T12:00:00Z')
  queue.put('svc_events', row({ reminders: ['60', '10', 'soon', ''] }))
  expect(ringsAt('2026-11-26T17:00:00Z')).toEqual(['Choir 2026-11-26T18:00'])
  queue.put('svc_events', row({ reminders: ['60', '10'], reminded_at: '2026-11-26T17:00:00Z' }))
  expect(ringsAt('2026-11-26T17:10:00Z')).toEqual([])
  expect(ringsAt('2026-11-26T17:50:00Z')).toEqual(['Choir 2026-11-26T18:00'])
})

test('a series rings for each occurrence, but not for those that are left out, moved, or skipped by the clock', async () => {
  const { queue, ringsAt, settle } = queueAt('2026-03-27T12:00:00Z')
  // Daily at 2:30, which does not exist on the 29th.
  const series = row({
    starts_at: '2026-03-20T01:30:00Z',
    tzid: BERLIN,
    rrule: 'FREQ=DAILY',
    exdates: ['2026-03-31T00:30:00Z'],
    created_at: '2026-03-27T00:00:00Z',
  })
  queue.put('svc_events', series)
  queue.put(
    'svc_events',
    row({
      id: 2,
      title: 'Late',
      created_at: '2026-03-27T00:00:00Z',
      recurrence_id: '2026-03-30T00:30:00Z',
      starts_at: '2026-03-30T10:00:00Z',
    }),
  )
  await settle()
  queue.put('svc_events', { ...series, reminded_at: '2026-03-27T12:00:00Z' })
  expect(ringsAt('2026-03-28T01:20:00Z')).toEqual(['Choir 2026-03-28T01:30'])
  queue.put('svc_events', { ...series, reminded_at: '2026-03-28T01:20:00Z' })
  expect(ringsAt('2026-03-29T12:00:00Z')).toEqual([])
  await settle()
  expect(ringsAt('2026-03-30T09:50:00Z')).toEqual(['Late 2026-03-30T10:00'])
  // Without the changed occurrence, the series takes place then.
  queue.remove('svc_events', 2)
  expect(ringsAt('2026-03-30T09:50:00Z')).toEqual(['Choir 2026-03-30T00:30'])
  queue.remove('svc_events', 1)
  expect(ringsAt('2026-04-02T12:00:00Z')).toEqual([])
})

test('a series without a rule rings for each of its dates', async () => {
  const { queue, ringsAt } = queueAt('2026-11-26T12:00:00Z')
  const series = row({ rdates: ['2026-11-27T18:00:00Z', '2026-12-24T18:00:00Z'], exdates: ['2026-11-26T18:00:00Z'] })
  queue.put('svc_events', series)
  expect(ringsAt('2026-11-26T17:50:00Z')).toEqual([])
  expect(ringsAt('2026-11-27T17:50:00Z')).toEqual(['Choir 2026-11-27T18:00'])
  queue.put('svc_events', { ...series, reminded_at: '2026-11-27T17:50:00Z' })
  expect(ringsAt('2026-12-24T17:50:00Z')).toEqual(['Choir 2026-12-24T18:00'])
})

test('a changed occurrence that its series leaves out, because it was cancelled later, does not ring', async () => {
  const recurrence_id = '2026-11-27T18:00:00.000Z'
  for (const reminders of [['10'], null]) {
    const { queue, ringsAt, settle } = queueAt('2026-11-27T12:00:00Z')
    const series = row({ rrule: 'FREQ=DAILY', reminders, reminded_at: '2026-11-27T12:00:00Z' })
    queue.put('svc_events', series)
    queue.put('svc_events', row({ id: 2, title: 'Late', recurrence_id, starts_at: '2026-11-27T19:00:00Z' }))
    await settle()
    expect(ringsAt('2026-11-27T18:50:00Z')).toEqual(['Late 2026-11-27T19:00'])
    queue.put('svc_events', { ...series, exdates: ['2026-11-27T18:00:00Z'] })
    expect(ringsAt('2026-11-27T18:51:00Z')).toEqual([])
    queue.put('svc_events', series)
    expect(ringsAt('2026-11-27T18:52:00Z')).toEqual(['Late 2026-11-27T19:00'])
    queue.put('svc_events', { ...series, exdates: [recurrence_id] })
    queue.remove('svc_events', 1)
    expect(ringsAt('2026-11-27T18:53:00Z')).toEqual(['Late 2026-11-27T19:00'])
  }
})

test('a series without a UID leaves out its changed occurrences, by the UID of its exports or by its ID', async () => {
  for (const uid of ['1', `1-${Date.parse(row().created_at)}@svc`]) {
    const { queue, ringsAt, settle } = queueAt('2026-11-27T12:00:00Z')
    queue.put('svc_events', row({ uid: null, rrule: 'FREQ=DAILY', reminded_at: '2026-11-27T12:00:00Z' }))
    const [recurrence_id, starts_at] = ['2026-11-27T18:00:00Z', '2026-11-28T09:00:00Z']
    queue.put('svc_events', row({ id: 2, title: 'Late', uid, recurrence_id, starts_at }))
    await settle()
    expect(ringsAt('2026-11-27T18:00:00Z')).toEqual([])
    expect(ringsAt('2026-11-28T08:50:00Z')).toEqual(['Late 2026-11-28T09:00'])
  }
})

test('a rule that is not valid rings for its first date only', async () => {
  const { queue, ringsAt, settle } = queueAt('2026-11-26T12:00:00Z')
  queue.put('svc_events', row({ rrule: 'FREQ=NEVER' }))
  await settle()
  expect(ringsAt('2026-11-26T17:50:00Z')).toEqual(['Choir 2026-11-26T18:00'])
})

test('tasks ring by their hour or day, and not when they are done or have no day', () => {
  const { queue, ringsAt } = queueAt('2026-11-26T00:00:00Z')
  queue.put('svc_tasks', task())
  queue.put('svc_tasks', task({ id: 2, title: 'Day', due_time: null, reminders: ['-540'] }))
  queue.put('svc_tasks', task({ id: 3, title: 'Done', done: true }))
  queue.put('svc_tasks', task({ id: 4, title: 'Undated', due_on: null }))
  expect(ringsAt('2026-11-26T08:00:00Z')).toEqual(['Day 2026-11-26T00:00'])
  expect(ringsAt('2026-11-26T17:50:00Z')).toEqual(['Day 2026-11-26T00:00', 'Choir 2026-11-26T18:00'])
  queue.put('svc_tasks', task({ done: true }))
  expect(ringsAt('2026-11-26T17:51:00Z')).toEqual(['Day 2026-11-26T00:00'])
})

test('thousands of events are looked at when they change or ring, not at every check; series once a day', async () => {
  const { queue, ringsAt, settle, expansions } = queueAt('2026-11-26T12:00:00Z')
  for (let id = 1; id <= 5_000; id++) {
    const starts_at = new Date(at('2026-11-27T00:00:00Z') + id * HOUR).toISOString()
    queue.put(
      'svc_events',
      row({ id, title: `${id}`, starts_at, uid: `${id}`, ...(id <= 20 ? { rrule: 'FREQ=WEEKLY' } : {}) }),
    )
  }
  await settle()
  for (let minute = 0; minute < 60; minute++)
    ringsAt(new Date(at('2026-11-26T12:00:00Z') + minute * MINUTE).toISOString())
  await settle()
  expect(expansions()).toBe(20)
  expect(ringsAt('2026-11-27T00:50:00Z')).toEqual(['1 2026-11-27T01:00'])
  expect(queue.wait()).toBe(HOUR)
  ringsAt(new Date(at('2026-11-26T12:00:00Z') + DAY).toISOString())
  await settle()
  expect(expansions()).toBe(40)
})
