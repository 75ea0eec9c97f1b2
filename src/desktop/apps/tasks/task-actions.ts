import { computed, signal } from '@preact/signals'
import { entryWords } from '../../kit/entry-words.ts'
import { addDays, noonOf } from '../../kit/days.ts'
import { formatDayInYear } from '../../kit/formats.ts'
import { expand } from '../../kit/recurrence/expand.ts'
import { uuid } from '../../kit/rows.ts'
import { dueMoment } from '../../kit/task-times.ts'
import { toast, toastError } from '../../kit/toast.tsx'
import { nextDue, type NextDue } from './repeat.ts'
import { dayFromNow, entries, shown, tree, type Task } from './store.ts'
import { words } from './words.ts'

/** What screen readers are told of a change in the tree. */
export const announcement = signal('')

/** Tasks whose next date is being calculated. */
export const finishing = signal<ReadonlySet<string>>(new Set())

const nameOf = ({ title }: Task): string => title || words('untitled')

const setDone = (task: Task, done: boolean): void =>
  entries.write(task, { done, done_at: done ? new Date().toISOString() : null })

/** The first day on which a task that is done now can be due again. */
function earliestDay(task: Task): string {
  const day = dayFromNow(0, new Date())
  const moment = dueMoment({ ...task, due_on: day })
  return moment !== undefined && moment <= Date.now() ? addDays(day, 1) : day
}

/** Keeps what was done as a task of its own, and makes the task and its sub-tasks due again. */
function repeat(task: Task, next: NextDue): void {
  const { due_on, rrule } = task
  const done_at = new Date().toISOString()
  const copy = entries.add({ ...entries.fieldsOf(task), rrule: null, uid: null, done: true, done_at })
  const reopened = tree.value.childrenOf(task).filter(({ done }) => done)
  for (const part of reopened) setDone(part, false)
  entries.write(task, { ...next, snoozed_until: null })
  const undo = (): void => {
    const now = entries.find(task.key)
    if (now) entries.write(now, { due_on, rrule })
    for (const { key, done_at: before } of reopened) {
      const part = entries.find(key)
      if (part) entries.write(part, { done: true, done_at: before })
    }
    const added = entries.find(copy)
    if (added) void entries.remove(added).catch(toastError)
  }
  const text = words('due_again', nameOf(task), formatDayInYear(noonOf(next.due_on)))
  toast(text, { action: { label: entryWords('undo'), run: undo } })
}

async function finishRepeated(task: Task, due: NextDue): Promise<void> {
  if (finishing.value.has(task.key)) return
  finishing.value = new Set([...finishing.value, task.key])
  try {
    const next = await nextDue(due, earliestDay(task), expand)
    const now = entries.find(task.key)
    if (!now || now.done) return
    if (next === undefined || next === 'ended') {
      setDone(now, true)
      if (next === undefined) toast(words('unreadable'), { tone: 'bad' })
    } else repeat(now, next)
  } finally {
    finishing.value = new Set([...finishing.value].filter((key) => key !== task.key))
  }
}

/** Marks a task as done or not; one that repeats becomes due again. */
export function finish(task: Task, done: boolean): void {
  const { due_on, rrule } = task
  if (done && due_on !== null && rrule !== null) void finishRepeated(task, { due_on, rrule }).catch(toastError)
  else setDone(task, done)
}

/** The UID by which sub-tasks name their parent. */
function uidFor(parent: Task): string {
  const { uid } = parent
  if (uid !== null && tree.value.withUid(uid)?.key === parent.key) return uid
  const fresh = uuid()
  entries.write(parent, { uid: fresh })
  return fresh
}

/** The task above each one on the same level. */
const above = computed(() => {
  const found = new Map<Task, Task>()
  for (const { lines } of shown.value) {
    // The last task of each level.
    const last: Task[] = []
    for (const { task, depth } of lines) {
      const before = last[depth]
      if (before) found.set(task, before)
      last.length = depth
      last[depth] = task
    }
  }
  return found
})

/** The task above on the same level, which a task can become a part of. */
export const taskAbove = (task: Task): Task | undefined => above.value.get(task)

/** Makes a task a part of the one above. */
export function indent(task: Task): void {
  const above = taskAbove(task)
  if (!above) return void (announcement.value = words('no_task_above'))
  entries.write(task, { parent_uid: uidFor(above) })
  announcement.value = words('is_part', nameOf(task), nameOf(above))
}

/** Moves a task out of the one that it is a part of. */
export function outdent(task: Task): void {
  const parent = tree.value.parentOf(task)
  if (!parent) return void (announcement.value = words('no_part'))
  const next = tree.value.parentOf(parent)
  entries.write(task, { parent_uid: next ? uidFor(next) : null })
  announcement.value = next ? words('is_part', nameOf(task), nameOf(next)) : words('is_top', nameOf(task))
}

/** Begins a new part of a task. */
export const createPart = (parent: Task): void => entries.create({ parent_uid: uidFor(parent) })
