import { computed, signal } from '@preact/signals'
import { openEntries, type Entry } from '../../kit/entries.ts'
import { compareNames } from '../../kit/formats.ts'
import { today } from '../../kit/local-day.ts'

export type Task = Entry<'svc_tasks'>

export const entries = openEntries('svc_tasks', {
  blank: { title: '', note: null, due_on: null, priority: 0, done: false, done_at: null },
  isComplete: ({ title }) => title.trim() !== '',
})

/** Groups by due date. */
export const groups = ['overdue', 'today', 'soon', 'later', 'undated', 'done'] as const
export type Group = (typeof groups)[number]

export const filter = signal<Group | 'open'>('open')
export const searchText = signal('')

export function dayFromNow(days: number, now = new Date()): string {
  return today(new Date(now.getFullYear(), now.getMonth(), now.getDate() + days))
}

export function groupOf({ done, due_on }: Task): Group {
  if (done) return 'done'
  if (due_on === null) return 'undated'
  if (due_on < today()) return 'overdue'
  if (due_on === today()) return 'today'
  return due_on <= dayFromNow(7) ? 'soon' : 'later'
}

const inOrder = (a: Task, b: Task): number =>
  a.done && b.done
    ? (b.done_at ?? b.updated_at).localeCompare(a.done_at ?? a.updated_at)
    : (a.due_on ?? '').localeCompare(b.due_on ?? '') || b.priority - a.priority || compareNames(a.title, b.title)

const grouped = computed(() => {
  const byGroup = new Map<Group, Task[]>(groups.map((group) => [group, []]))
  for (const task of entries.all.value.toSorted(inOrder)) byGroup.get(groupOf(task))!.push(task)
  return byGroup
})

export const countOf = (group: Group | 'open'): number =>
  group === 'open' ? entries.all.value.filter(({ done }) => !done).length : (grouped.value.get(group)?.length ?? 0)

const matchesSearch = ({ title, note }: Task): boolean => {
  const text = `${title}\n${note ?? ''}`.toLowerCase()
  return searchText.value
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** Visible groups and their tasks; empty groups are omitted. */
export const shown = computed(() =>
  groups
    .filter((group) => (filter.value === 'open' ? group !== 'done' : group === filter.value))
    .map((group) => ({ group, tasks: (grouped.value.get(group) ?? []).filter(matchesSearch) }))
    .filter(({ tasks }) => tasks.length > 0),
)

/** Adds a task to the visible list. */
export function add(title: string): void {
  const due = { today: 0, soon: 1, overdue: 0, later: 8 } as const
  const days = filter.value in due ? due[filter.value as keyof typeof due] : undefined
  entries.add({ title, due_on: days === undefined ? null : dayFromNow(days) })
}

export const finish = (task: Task, done: boolean): void =>
  entries.write(task, { done, done_at: done ? new Date().toISOString() : null })
