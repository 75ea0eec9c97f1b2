import { describe, expect, test } from 'vitest'
import { nextDue } from '../../src/desktop/apps/tasks/repeat.ts'
import { linesOf, treeOf, type TreeTask } from '../../src/desktop/apps/tasks/task-tree.ts'
import { expandRule } from '../../src/desktop/kit/recurrence/expand-rule.ts'
import { dueMoment } from '../../src/desktop/kit/task-times.ts'

const task = (id: number, uid: string | null, parent_uid: string | null): TreeTask => ({
  key: `${id}`,
  row: { id },
  uid,
  parent_uid,
})

const shape = (tasks: readonly TreeTask[]): string[] => {
  const tree = treeOf(tasks)
  return tree.roots.flatMap((root) =>
    linesOf(tree, root).map(({ task: { key }, depth }) => `${'-'.repeat(depth)}${key}`),
  )
}

describe('sub-tasks', () => {
  test('are below their parent, in the order in which they were added', () => {
    expect(
      shape([task(4, null, 'a'), task(1, 'a', null), task(3, 'b', 'a'), task(2, null, null), task(5, null, 'b')]),
    ).toEqual(['1', '-3', '--5', '-4', '2'])
  })

  test('are tasks of their own if the parent is missing', () => {
    expect(shape([task(1, null, 'gone'), task(2, 'x', '')])).toEqual(['1', '2'])
  })

  test.each([
    ['a task that is its own parent', [task(1, 'a', 'a')], ['1']],
    ['two that are parts of each other', [task(2, 'b', 'a'), task(1, 'a', 'b')], ['1', '-2']],
    [
      'a cycle with something below it',
      [task(1, null, 'c'), task(2, 'a', 'c'), task(3, 'b', 'a'), task(4, 'c', 'b')],
      ['2', '-3', '--4', '---1'],
    ],
    ['two with one UID', [task(1, 'a', null), task(2, 'a', null), task(3, null, 'a')], ['1', '-3', '2']],
    ['two with one UID, one of which is the other’s part', [task(1, 'a', 'a'), task(2, 'a', 'a')], ['1', '-2']],
  ])('lose nothing: %s', (_, tasks, lines) => expect(shape(tasks)).toEqual(lines))

  test('may be thousands, all in one line', () => {
    const chain = Array.from({ length: 5_000 }, (_, id) => task(id + 1, `${id + 1}`, `${id}`))
    expect(shape(chain)).toHaveLength(5_000)
  })
})

describe('the next date of a task that repeats', () => {
  const expand = async (expansion: Parameters<typeof expandRule>[0]) => expandRule(expansion)
  const next = (rrule: string, due_on: string, earliest = due_on) => nextDue({ due_on, rrule }, earliest, expand)

  test.each([
    ['FREQ=DAILY', '2026-11-26', '2026-11-26', { due_on: '2026-11-27', rrule: 'FREQ=DAILY' }],
    // Days that passed while it was overdue are left out.
    ['FREQ=WEEKLY', '2026-11-02', '2026-11-26', { due_on: '2026-11-30', rrule: 'FREQ=WEEKLY' }],
    ['FREQ=MONTHLY', '2026-01-31', '2026-01-31', { due_on: '2026-03-31', rrule: 'FREQ=MONTHLY' }],
    ['FREQ=YEARLY', '2096-02-29', '2096-02-29', { due_on: '2104-02-29', rrule: 'FREQ=YEARLY' }],
    ['FREQ=DAILY;COUNT=3', '2026-11-26', '2026-11-26', { due_on: '2026-11-27', rrule: 'FREQ=DAILY;COUNT=2' }],
    ['FREQ=DAILY;COUNT=5', '2026-11-20', '2026-11-23', { due_on: '2026-11-23', rrule: 'FREQ=DAILY;COUNT=2' }],
    ['FREQ=DAILY;COUNT=1', '2026-11-26', '2026-11-26', 'ended'],
    [
      'FREQ=DAILY;UNTIL=20261127',
      '2026-11-26',
      '2026-11-26',
      { due_on: '2026-11-27', rrule: 'FREQ=DAILY;UNTIL=20261127' },
    ],
    ['FREQ=DAILY;UNTIL=20261126', '2026-11-26', '2026-11-26', 'ended'],
    ['FREQ=SOMETIMES', '2026-11-26', '2026-11-26', undefined],
    ['FREQ=SECONDLY', '2026-11-26', '2026-11-26', undefined],
    ['', '2026-11-26', '2026-11-26', undefined],
  ])('%s from %s, not before %s', async (rrule, due_on, earliest, result) =>
    expect(await next(rrule, due_on, earliest)).toEqual(result),
  )
})

test.each([
  ['2026-11-26', '14:30', 'Europe/Berlin', '2026-11-26T13:30:00.000Z'],
  ['2026-11-26', '14:30', null, '2026-11-26T14:30:00.000Z'],
  ['2026-11-26', '14:30', 'Mars/Base', '2026-11-26T14:30:00.000Z'],
  // The clock jumps from two to three: the task is due when it jumps.
  ['2026-03-29', '02:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-03-29', '02:30', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['2026-03-29', '03:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  // The hour comes twice: the first one counts.
  ['2026-10-25', '02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  // Lord Howe Island jumps by half an hour.
  ['2026-10-04', '02:15', 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
])('a task of %s, %s in %s is due at %s', (due_on, due_time, tzid, moment) => {
  expect(new Date(dueMoment({ due_on, due_time, tzid })!).toISOString()).toBe(moment)
})

test('a task without a day, or without an hour, is due at no moment', () => {
  expect(dueMoment({ due_on: null, due_time: '10:00', tzid: 'UTC' })).toBeUndefined()
  expect(dueMoment({ due_on: '2026-11-26', due_time: null, tzid: null })).toBeUndefined()
})
