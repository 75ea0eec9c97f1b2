import { CalendarDays, EllipsisVertical, Flag, IndentDecrease, IndentIncrease, ListPlus, Repeat, Trash2 } from 'lucide'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { confirmAndRemove } from '../../kit/entry-controls.tsx'
import { formatDate, formatTime } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { dueDay, dueMoment, unknownZone } from '../../kit/task-times.ts'
import { common } from '../../kit/words.ts'
import { dayFromNow, entries, isOverdue, tree, type Line, type Task } from './store.ts'
import { createPart, finish, finishing, indent, outdent, taskAbove } from './task-actions.ts'
import { words } from './words.ts'

/** The table allows priorities up to 9; the app offers three. */
export const priorities = ['none', 'low', 'medium', 'high'] as const

const levelOf = (priority: number): number => (priority > 6 ? 3 : priority > 3 ? 2 : priority > 0 ? 1 : 0)

export const priorityOf = (priority: number): string => `${levelOf(priority) * 3}`

/** Deeper tasks are shown at this depth. */
const MAX_DEPTH = 6

function dayText(day: string): string {
  if (day === dayFromNow(0)) return words('today')
  if (day === dayFromNow(1)) return words('tomorrow')
  if (day === dayFromNow(-1)) return words('yesterday')
  return formatDate(`${day}T12:00`)
}

/** `Today, 14:00`. */
function dueText(task: Task): string {
  const moment = dueMoment(task)
  const day = dayText(dueDay(task)!)
  if (moment === undefined) return day
  const unknown = unknownZone(task)
  const text = `${day}, ${formatTime(moment)}`
  return unknown === undefined ? text : `${text} (${words('unknown_zone', unknown)})`
}

function Due({ task }: { task: Task }) {
  const isLate = isOverdue(task)
  return (
    <span class={`task-mark ${isLate ? 'is-overdue' : ''}`}>
      <Icon of={CalendarDays} size={14} />
      {isLate && <span class="unseen">{words('overdue')}: </span>}
      {dueText(task)}
      {task.rrule !== null && (
        <span title={words('repeats')}>
          <Icon of={Repeat} size={14} />
          <span class="unseen">, {words('repeats')}</span>
        </span>
      )}
    </span>
  )
}

/** How many parts of a task are done. */
function Progress({ task }: { task: Task }) {
  const parts = tree.value.childrenOf(task)
  if (parts.length === 0) return null
  const done = parts.filter((part) => part.done).length
  return (
    <span class="task-mark">
      <span aria-hidden="true">
        {done}/{parts.length}
      </span>
      <span class="unseen">{words('parts_done', done, parts.length)}</span>
    </span>
  )
}

function LineMenu({ task, title }: { task: Task; title: string }) {
  const above = taskAbove(task)
  const parent = tree.value.parentOf(task)
  return (
    <Menu
      label={words('actions', title)}
      items={[
        { label: words('add_part'), icon: ListPlus, onSelect: () => createPart(task) },
        {
          label: above ? words('indent', above.title || words('untitled')) : words('indent_none'),
          icon: IndentIncrease,
          disabled: !above,
          onSelect: () => moveBy(task, indent),
        },
        { label: words('outdent'), icon: IndentDecrease, disabled: !parent, onSelect: () => moveBy(task, outdent) },
        {
          label: common('delete'),
          icon: Trash2,
          danger: true,
          onSelect: () => void confirmAndRemove({ of: entries, entry: task }, title),
        },
      ]}
    >
      <Icon of={EllipsisVertical} size={18} />
    </Menu>
  )
}

/** The task that keeps the focus when its line is rendered elsewhere. */
let focusedKey: string | undefined

function moveBy(task: Task, change: (task: Task) => void): void {
  focusedKey = task.key
  change(task)
}

export function TaskLine({ line: { task, depth } }: { line: Line }) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    if (focusedKey === task.key) button.current?.focus()
  })
  const title = task.title || words('untitled')
  const level = levelOf(task.priority)
  const parent = tree.value.parentOf(task)
  return (
    <li
      class={`task ${task.done ? 'is-done' : ''}`}
      style={{ '--depth': Math.min(depth, MAX_DEPTH) }}
      aria-level={depth + 1}
    >
      <input
        type="checkbox"
        aria-label={words('finish', title)}
        checked={task.done || finishing.value.has(task.key)}
        onChange={({ currentTarget }) => finish(task, currentTarget.checked)}
      />
      <button
        ref={button}
        type="button"
        class="task-open"
        aria-keyshortcuts="Alt+ArrowRight Alt+ArrowLeft"
        onClick={() => void (entries.open.value = task.key)}
        onBlur={() => focusedKey === task.key && (focusedKey = undefined)}
        onKeyDown={(event) => {
          if (!event.altKey || (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft')) return
          event.preventDefault()
          moveBy(task, event.key === 'ArrowRight' ? indent : outdent)
        }}
      >
        <span class="task-title">{title}</span>
        {parent && (
          <span class={depth > 0 ? 'unseen' : 'task-note'}>{words('part_of', parent.title || words('untitled'))}</span>
        )}
        {task.note && <span class="task-note">{task.note.slice(0, 200)}</span>}
      </button>
      <Progress task={task} />
      {level > 0 && (
        <span class={`task-mark level-${level}`} title={words('priority')}>
          <Icon of={Flag} size={14} />
          {words(priorities[level]!)}
        </span>
      )}
      {task.due_on !== null && <Due task={task} />}
      <LineMenu task={task} title={title} />
    </li>
  )
}
