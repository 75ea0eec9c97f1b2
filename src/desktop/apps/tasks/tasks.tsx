import { useSignal } from '@preact/signals'
import {
  AlarmClock,
  CalendarClock,
  CalendarDays,
  CalendarOff,
  Circle,
  CircleCheck,
  type IconNode,
  ListTodo,
  Menu as Lines,
  Sun,
} from 'lucide'
import { useEffect } from 'preact/hooks'
import { bridge } from '../../kit/bridge.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { EntryField } from '../../kit/entry-field.tsx'
import { EntriesOr, EntryDialog, EntryTrouble } from '../../kit/entry-parts.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatNumber } from '../../kit/formats.ts'
import { SideList } from '../../kit/side-list.tsx'
import { Split, Toolbar } from '../../kit/split.tsx'
import { Empty, OfflineBanner } from '../../kit/states.tsx'
import { add, chosen, countOf, entries, groups, shown, sought, type Group, type Task } from './store.ts'
import { priorities, priorityOf, TaskLine } from './task-line.tsx'
import { words } from './words.ts'

const icons: Record<Group | 'open', IconNode> = {
  open: Circle,
  overdue: AlarmClock,
  today: Sun,
  soon: CalendarClock,
  later: CalendarDays,
  undated: CalendarOff,
  done: CircleCheck,
}

/** Tasks of a group that are drawn before somebody asks for more. */
const STEP = 200

function Add() {
  const title = useSignal('')
  return (
    <form
      class="task-add"
      onSubmit={(event) => {
        event.preventDefault()
        if (title.value.trim() !== '') add(title.value.trim())
        title.value = ''
      }}
    >
      <input
        aria-label={words('add')}
        placeholder={words('add')}
        maxLength={500}
        value={title.value}
        onInput={({ currentTarget }) => void (title.value = currentTarget.value)}
      />
      <Button kind="main" type="submit">
        {words('add_button')}
      </Button>
    </form>
  )
}

function GroupOfTasks({ group, tasks }: { group: Group; tasks: readonly Task[] }) {
  const most = useSignal(STEP)
  const left = tasks.length - most.value
  return (
    <section class={`task-group group-${group}`}>
      <h2>
        {words(group)} <small>{formatNumber(tasks.length)}</small>
      </h2>
      <ul>
        {tasks.slice(0, most.value).map((task) => (
          <TaskLine key={task.key} task={task} />
        ))}
      </ul>
      {left > 0 && (
        <Button kind="quiet" onClick={() => void (most.value += STEP)}>
          {words('more', formatNumber(Math.min(STEP, left)))}
        </Button>
      )}
    </section>
  )
}

function TaskDialog({ task }: { task: Task }) {
  const at = { of: entries, entry: task }
  return (
    <EntryDialog {...at} name={task.title || words('untitled')} title={words('task')}>
      <EntryTrouble {...at} label={(name) => words(name as 'title')} />
      <div class="form">
        <EntryField {...at} name="title" label={words('title')} data-first />
        <div class="two">
          <EntryField {...at} name="due_on" label={words('due_on')} />
          <EntryField
            {...at}
            entry={{ ...task, priority: Number(priorityOf(task.priority)) }}
            name="priority"
            label={words('priority')}
            options={priorities.map((name, level) => ({ value: `${level * 3}`, label: words(name) }))}
          />
        </div>
        <EntryField {...at} name="note" label={words('note')} />
      </div>
    </EntryDialog>
  )
}

/** The app. */
export function Tasks() {
  const isSide = useSignal(false)
  const task = entries.current.value
  const overdue = countOf('overdue')
  useEffect(() => bridge.title(overdue > 0 ? `${words('tasks')} – ${words('overdue')}: ${overdue}` : ''), [overdue])
  return (
    <>
      <h1 class="unseen">{words('tasks')}</h1>
      <OfflineBanner />
      <Split
        label={words('lists')}
        shows={isSide.value ? 'side' : 'main'}
        side={
          <SideList
            items={(['open', ...groups] as const).map((key) => ({
              key,
              label: words(key),
              icon: icons[key],
              count: countOf(key),
            }))}
            selected={chosen.value}
            onSelect={(key) => {
              chosen.value = key as Group
              isSide.value = false
            }}
          />
        }
        main={
          <>
            <Toolbar label={words('tasks')}>
              <IconButton
                icon={Lines}
                class="only-narrow"
                label={words('lists')}
                onClick={() => void (isSide.value = true)}
              />
              <SearchField
                label={words('search')}
                value={sought.value}
                onInput={({ currentTarget }) => void (sought.value = currentTarget.value)}
              />
            </Toolbar>
            {chosen.value !== 'done' && <Add />}
            <div class="task-groups" tabIndex={-1}>
              <EntriesOr
                of={entries}
                icon={ListTodo}
                count={shown.value.length}
                isFiltered={sought.value !== ''}
                none={
                  <Empty icon={ListTodo} title={words('none_yet')}>
                    {chosen.value !== 'done' && <p>{words('none_yet_text')}</p>}
                  </Empty>
                }
              >
                {shown.value.map((one) => (
                  <GroupOfTasks key={one.group} {...one} />
                ))}
              </EntriesOr>
            </div>
          </>
        }
      />
      {task && <TaskDialog key={entries.open.value} task={task} />}
    </>
  )
}
