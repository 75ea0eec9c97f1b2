import { EntryAlert, EntryDialog } from '../../kit/entry-controls.tsx'
import { EntryField } from '../../kit/entry-field.tsx'
import { TextField } from '../../kit/field.tsx'
import { ownZone } from '../../kit/local-day.ts'
import { ReminderFields } from '../../kit/reminder-fields.tsx'
import { RepeatFields } from '../../kit/recurrence/repeat-fields.tsx'
import { unknownZone } from '../../kit/task-times.ts'
import { dayFromNow, entries, tree, type Task } from './store.ts'
import { priorities, priorityOf } from './task-line.tsx'
import { words } from './words.ts'

/** The hour; with one, a task also has a day. */
function TimeField({ task }: { task: Task }) {
  const { due_on, due_time, tzid } = task
  const isOther = due_time !== null && tzid !== ownZone()
  const unknown = unknownZone(task)
  return (
    <TextField
      label={words('due_time')}
      type="time"
      value={due_time ?? ''}
      problem={unknown === undefined ? undefined : words('unknown_zone_utc', unknown)}
      hint={isOther ? words('zone', tzid ?? 'UTC') : undefined}
      onText={(text) =>
        entries.write(
          task,
          text === ''
            ? { due_time: null, tzid: null }
            : {
                due_time: text.slice(0, 5),
                tzid: due_time === null ? ownZone() : tzid,
                due_on: due_on ?? dayFromNow(0),
              },
        )
      }
    />
  )
}

function TaskRepeat({ task, first }: { task: Task; first: string }) {
  return (
    <RepeatFields
      rrule={task.rrule}
      first={first}
      isAllDay
      toDay={(moment) => moment.slice(0, 10)}
      endOf={(day) => Date.parse(day)}
      problem={false}
      onRule={(rrule) => entries.write(task, { rrule })}
    />
  )
}

export function TaskDialog({ task }: { task: Task }) {
  const entryProps = { of: entries, entry: task }
  // A new task is not in the tree yet.
  const parent = task.row || task.parent_uid === null ? tree.value.parentOf(task) : tree.value.withUid(task.parent_uid)
  return (
    <EntryDialog {...entryProps} name={task.title || words('untitled')} title={words(parent ? 'part' : 'task')}>
      <EntryAlert {...entryProps} label={(name) => words(name as 'title')} />
      <div class="form">
        {parent && <p class="task-parent">{words('part_of', parent.title || words('untitled'))}</p>}
        <EntryField {...entryProps} name="title" label={words('title')} data-first />
        <div class="two">
          <EntryField {...entryProps} name="due_on" label={words('due_on')} />
          <TimeField task={task} />
        </div>
        {task.due_on !== null && <TaskRepeat task={task} first={task.due_on} />}
        {task.due_on !== null && (
          <ReminderFields
            reminders={task.reminders}
            isDay={task.due_time === null}
            onChange={(change) => entries.write(task, change)}
          />
        )}
        <EntryField
          {...entryProps}
          entry={{ ...task, priority: Number(priorityOf(task.priority)) }}
          name="priority"
          label={words('priority')}
          options={priorities.map((name, level) => ({ value: `${level * 3}`, label: words(name) }))}
        />
        <EntryField {...entryProps} name="note" label={words('note')} />
      </div>
    </EntryDialog>
  )
}
