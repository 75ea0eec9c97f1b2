import { CalendarDays, Flag } from 'lucide'
import { formatDate } from '../../kit/formats.ts'
import { Icon } from '../../kit/icon.tsx'
import { dayFromNow, entries, finish, groupOf, type Task } from './store.ts'
import { words } from './words.ts'

/** The table allows priorities up to 9; the app offers three. */
export const priorities = ['none', 'low', 'medium', 'high'] as const

const levelOf = (priority: number): number => (priority > 6 ? 3 : priority > 3 ? 2 : priority > 0 ? 1 : 0)

export const priorityOf = (priority: number): string => `${levelOf(priority) * 3}`

function dueText(day: string): string {
  if (day === dayFromNow(0)) return words('today')
  if (day === dayFromNow(1)) return words('tomorrow')
  if (day === dayFromNow(-1)) return words('yesterday')
  return formatDate(`${day}T12:00`)
}

export function TaskLine({ task }: { task: Task }) {
  const title = task.title || words('untitled')
  const level = levelOf(task.priority)
  const isOverdue = groupOf(task) === 'overdue'
  return (
    <li class={`task ${task.done ? 'is-done' : ''}`}>
      <input
        type="checkbox"
        aria-label={words('finish', title)}
        checked={task.done}
        onChange={({ currentTarget }) => finish(task, currentTarget.checked)}
      />
      <button type="button" onClick={() => void (entries.open.value = task.key)}>
        <span class="task-title">{title}</span>
        {task.note && <span class="task-note">{task.note.slice(0, 200)}</span>}
      </button>
      {level > 0 && (
        <span class={`task-mark level-${level}`} title={words('priority')}>
          <Icon of={Flag} size={14} />
          {words(priorities[level]!)}
        </span>
      )}
      {task.due_on !== null && (
        <span class={`task-mark ${isOverdue ? 'is-overdue' : ''}`}>
          <Icon of={CalendarDays} size={14} />
          {isOverdue && <span class="unseen">{words('overdue')}: </span>}
          {dueText(task.due_on)}
        </span>
      )}
    </li>
  )
}
