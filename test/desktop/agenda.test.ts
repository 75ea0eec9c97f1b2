import { describe, expect, test } from 'vitest'
import {
  agendaOf,
  expansionFor,
  type AgendaRows,
  type EventRow,
  type TaskRow,
} from '../../src/desktop/shell/today/agenda.ts'

// The time zone of these tests is that of the process; hours are given by its clock.
const DAY = '2026-03-29'
const at = (hours: string, day = DAY): string => new Date(`${day}T${hours}`).toISOString()
const noon = Date.parse(at('12:00'))
const anHourAgo = new Date(noon - 3_600_000).toISOString()

const event = (values: Partial<EventRow>): EventRow => ({
  id: 1,
  created_at: '2026-01-01T00:00:00.500Z',
  title: 'Event',
  starts_at: at('14:00'),
  ends_at: at('15:00'),
  all_day: false,
  calendar_uid: null,
  tzid: null,
  uid: null,
  rrule: null,
  rdates: null,
  exdates: null,
  recurrence_id: null,
  ...values,
})

const task = (values: Partial<TaskRow>): TaskRow => ({
  id: 1,
  title: 'Task',
  done: false,
  due_on: DAY,
  due_time: null,
  tzid: null,
  ...values,
})

const rowsOf = (rows: Partial<AgendaRows>): AgendaRows => ({ events: [], tasks: [], calendars: [], ...rows })
const titles = (rows: Partial<AgendaRows>, expanded = new Map<number, number[]>()): string[] =>
  agendaOf(rowsOf(rows), DAY, noon, expanded).map(({ title }) => title)

describe('The agenda of today', () => {
  test('has the events of the day that are not over', () => {
    const events = [
      event({ title: 'Later' }),
      event({ title: 'Over', starts_at: at('09:00'), ends_at: at('10:00') }),
      event({ title: 'Now', starts_at: at('11:30'), ends_at: at('12:30') }),
      event({ title: 'A moment ago', starts_at: at('11:59'), ends_at: null }),
      event({ title: 'Tomorrow', starts_at: at('09:00', '2026-03-30'), ends_at: null }),
      event({ title: 'Since yesterday', starts_at: at('20:00', '2026-03-28'), ends_at: at('13:00') }),
      event({ title: 'Ended at midnight', starts_at: at('20:00', '2026-03-28'), ends_at: at('00:00') }),
    ]
    expect(titles({ events })).toEqual(['Since yesterday', 'Now', 'Later'])
  })

  test('has whole days by their date, in every time zone', () => {
    const whole = (title: string, starts_at: string, ends_at: string | null) =>
      event({ title, starts_at: `${starts_at}T00:00:00Z`, ends_at: ends_at && `${ends_at}T00:00:00Z`, all_day: true })
    const events = [
      whole('Today', DAY, null),
      whole('Until today', '2026-03-27', '2026-03-30'),
      whole('Until yesterday', '2026-03-27', DAY),
      whole('Tomorrow', '2026-03-30', null),
    ]
    expect(titles({ events })).toEqual(['Today', 'Until today'])
  })

  test('has the occurrences of series, also changed ones, but none that is left out', () => {
    const daily = (id: number, values: Partial<EventRow>): EventRow =>
      event({
        id,
        uid: `series-${id}`,
        rrule: 'FREQ=DAILY',
        starts_at: at('16:00', '2026-03-01'),
        ends_at: null,
        ...values,
      })
    const today = Date.parse(at('16:00'))
    const created = Date.parse('2026-01-01T00:00:00.500Z')
    const events = [
      daily(1, { title: 'Daily' }),
      daily(2, { title: 'Left out', exdates: [at('16:00')] }),
      daily(3, { title: 'Moved' }),
      daily(4, { title: 'Moved to 18:00', uid: 'series-3', recurrence_id: at('16:00'), starts_at: at('18:00') }),
      daily(6, { title: 'Without a UID', uid: null }),
      daily(7, { title: 'Moved to 19:00', uid: '6', recurrence_id: at('16:00'), starts_at: at('19:00') }),
      daily(8, { title: 'Also without one', uid: null }),
      daily(9, {
        title: 'Moved to 20:00',
        uid: `8-${created}@svc`,
        recurrence_id: at('16:00'),
        starts_at: at('20:00'),
      }),
      daily(10, { title: 'Cancelled', exdates: [at('16:00')] }),
      daily(11, { title: 'Moved before', uid: 'series-10', recurrence_id: at('16:00'), starts_at: at('21:00') }),
      daily(12, { title: 'On single dates', rrule: null, rdates: [at('22:00')] }),
      daily(5, { title: 'Not readable', rrule: 'FREQ=SOMETIMES' }),
    ]
    const expanded = new Map([1, 2, 3, 6, 8].map((id) => [id, [today]]))
    expect(titles({ events }, expanded)).toEqual([
      'Daily',
      'Moved to 18:00',
      'Moved to 19:00',
      'Moved to 20:00',
      'On single dates',
    ])
    const { from, to } = expansionFor(events[0]!, DAY)
    expect(from).toBeLessThan(today)
    expect(to).toBeGreaterThan(today)
  })

  test('leaves out hidden calendars', () => {
    const calendar = (id: number, uid: string, values: object = {}) =>
      ({ id, uid, is_default: false, hidden: false, ...values }) as AgendaRows['calendars'][number]
    const calendars = [calendar(1, 'work', { hidden: true }), calendar(2, 'home', { is_default: true })]
    const events = [
      event({ title: 'Work', calendar_uid: 'work' }),
      event({ title: 'Home', calendar_uid: 'home' }),
      event({ title: 'Calendar that is gone', calendar_uid: 'other' }),
      event({ title: 'No calendar' }),
    ]
    expect(titles({ events, calendars })).toEqual(['Calendar that is gone', 'Home', 'No calendar'])
    expect(titles({ events, calendars: [calendar(1, 'home', { is_default: true, hidden: true })] })).toEqual([])
  })

  test('has the open tasks that are due, overdue ones first', () => {
    const tasks = [
      task({ title: 'Today' }),
      task({ title: 'Yesterday', due_on: '2026-03-28' }),
      task({ title: 'Done', done: true }),
      task({ title: 'Tomorrow', due_on: '2026-03-30' }),
      task({ title: 'Some day', due_on: null }),
      task({ title: 'An hour ago', due_on: anHourAgo.slice(0, 10), due_time: anHourAgo.slice(11, 16), tzid: 'UTC' }),
    ]
    const items = agendaOf(rowsOf({ tasks }), DAY, noon, new Map())
    expect(items.map(({ title, isOverdue }) => [title, isOverdue])).toEqual([
      ['Yesterday', true],
      ['An hour ago', true],
      ['Today', false],
    ])
  })
})
