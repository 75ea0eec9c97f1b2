import { computed, signal } from '@preact/signals'
import { MINUTE } from '../../../base/clock.ts'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { compareNames } from '../../kit/formats.ts'
import { today } from '../../kit/local-day.ts'
import { dueDay, dueMoment } from '../../kit/task-times.ts'
import { linesOf, treeOf, type TaskLine } from './task-tree.ts'

export type Task = Entry<'svc_tasks'>
export type Line = TaskLine<Task>

export const entries = openEntries('svc_tasks', {
  blank: {
    title: '',
    note: null,
    due_on: null,
    due_time: null,
    tzid: null,
    rrule: null,
    priority: 0,
    done: false,
    done_at: null,
    uid: null,
    parent_uid: null,
    reminders: null,
    reminded_at: null,
    snoozed_until: null,
  },
  isComplete: ({ title }) => title.trim() !== '',
})

/** Groups by due date. */
export const groups = ['overdue', 'today', 'soon', 'later', 'undated', 'done'] as const
export type Group = (typeof groups)[number]

export const filter = signal<Group | 'open'>('open')
export const searchText = signal('')

/** The time by which tasks are overdue, to the minute. */
const now = signal(Date.now())
setInterval(() => void (now.value = Date.now()), MINUTE)

export function dayFromNow(days: number, from = new Date(now.value)): string {
  return today(new Date(from.getFullYear(), from.getMonth(), from.getDate() + days))
}

export function groupOf(task: Task): Group {
  const day = dueDay(task)
  if (task.done) return 'done'
  if (day === null) return 'undated'
  if (day < dayFromNow(0)) return 'overdue'
  if (day === dayFromNow(0)) return 'today'
  return day <= dayFromNow(7) ? 'soon' : 'later'
}

export function isOverdue(task: Task): boolean {
  const moment = dueMoment(task)
  return !task.done && (moment === undefined ? groupOf(task) === 'overdue' : moment < now.value)
}

const dueText = (task: Task): string => (task.due_on === null ? '' : `${task.due_on}T${task.due_time ?? '24'}`)

const inOrder = (a: Task, b: Task): number =>
  a.done && b.done
    ? (b.done_at ?? b.updated_at).localeCompare(a.done_at ?? a.updated_at)
    : dueText(a).localeCompare(dueText(b)) || b.priority - a.priority || compareNames(a.title, b.title)

export const tree = computed(() => treeOf(entries.all.value))

interface Shown {
  group: Group
  /** The task by which the lines are sorted. */
  first: Task
  lines: readonly Line[]
}

/** A task with its sub-tasks belongs to the group of the one that is due first. */
const trees = computed<readonly Shown[]>(() =>
  tree.value.roots.map((root) => {
    const lines = linesOf(tree.value, root)
    let [first, group] = [root, groupOf(root)]
    for (const { task } of lines) {
      const other = groupOf(task)
      if (groups.indexOf(other) < groups.indexOf(group)) [first, group] = [task, other]
    }
    return { group, first, lines }
  }),
)

const done = computed<readonly Shown[]>(() =>
  entries.all.value
    .filter((task) => task.done)
    .map((task) => ({ group: 'done', first: task, lines: [{ task, depth: 0 }] })),
)

const countsByGroup = computed(() => {
  const counts = new Map<Group, number>()
  for (const task of entries.all.value) {
    const group = groupOf(task)
    counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  return counts
})

export const countOf = (group: Group | 'open'): number =>
  group === 'open' ? entries.all.value.filter((task) => !task.done).length : (countsByGroup.value.get(group) ?? 0)

const matchesSearch = ({ title, note }: Task): boolean => {
  const text = `${title}\n${note ?? ''}`.toLowerCase()
  return searchText.value
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** The lines that match the search, and the tasks that they are part of. */
function matchingLines(lines: readonly Line[]): readonly Line[] {
  if (searchText.value === '') return lines
  const wanted = new Set<Task>()
  for (const { task } of lines.filter((line) => matchesSearch(line.task)))
    for (let at: Task | undefined = task; at && !wanted.has(at); at = tree.value.parentOf(at)) wanted.add(at)
  return lines.filter(({ task }) => wanted.has(task))
}

/** Visible groups and their tasks; empty groups are omitted. */
export const shown = computed(() =>
  groups
    .filter((group) => (filter.value === 'open' ? group !== 'done' : group === filter.value))
    .map((group) => ({
      group,
      lines: (group === 'done' ? done.value : trees.value)
        .filter((one) => one.group === group)
        .toSorted((a, b) => inOrder(a.first, b.first))
        .flatMap(({ lines }) => matchingLines(lines)),
    }))
    .filter(({ lines }) => lines.length > 0),
)

/** Adds a task to the visible list. */
export function add(title: string): void {
  const due = { today: 0, soon: 1, overdue: 0, later: 8 } as const
  const days = filter.value in due ? due[filter.value as keyof typeof due] : undefined
  entries.add({ title, due_on: days === undefined ? null : dayFromNow(days) })
}
