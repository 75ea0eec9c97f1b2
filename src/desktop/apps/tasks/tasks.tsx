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
import { EntriesView } from '../../kit/entry-controls.tsx'
import { SearchField } from '../../kit/field.tsx'
import { formatNumber } from '../../kit/formats.ts'
import { SideList } from '../../kit/side-list.tsx'
import { FileMenu } from '../../kit/row-files/file-menu.tsx'
import { SplitView, Toolbar } from '../../kit/split-view.tsx'
import { EmptyState, OfflineBanner } from '../../kit/empty-state.tsx'
import { add, filter, countOf, entries, groupOf, groups, shown, searchText, type Group, type Line } from './store.ts'
import { announcement } from './task-actions.ts'
import { TaskDialog } from './task-dialog.tsx'
import { TaskLine } from './task-line.tsx'
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

/** Tasks of a group rendered at first, and added on each request. */
const PAGE_SIZE = 200

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

function GroupOfTasks({ group, lines }: { group: Group; lines: readonly Line[] }) {
  const limit = useSignal(PAGE_SIZE)
  const hiddenCount = lines.length - limit.value
  // Tasks that are listed only with the one that they belong to are counted in their own list.
  const count = lines.filter(({ task }) => groupOf(task) === group).length
  return (
    <section class={`task-group group-${group}`}>
      <h2>
        {words(group)} <small>{formatNumber(count)}</small>
      </h2>
      <ul>
        {lines.slice(0, limit.value).map((line) => (
          <TaskLine key={line.task.key} line={line} />
        ))}
      </ul>
      {hiddenCount > 0 && (
        <Button kind="quiet" onClick={() => void (limit.value += PAGE_SIZE)}>
          {words('more', formatNumber(Math.min(PAGE_SIZE, hiddenCount)))}
        </Button>
      )}
    </section>
  )
}

export function Tasks() {
  const isSide = useSignal(false)
  const task = entries.current.value
  const overdue = countOf('overdue')
  useEffect(() => bridge.setTitle(overdue > 0 ? `${words('overdue')}: ${overdue} – ${words('tasks')}` : ''), [overdue])
  return (
    <>
      <h1 class="unseen">{words('tasks')}</h1>
      <OfflineBanner />
      <SplitView
        label={words('lists')}
        shows={isSide.value ? 'side' : 'main'}
        back={isSide.value && (() => void (isSide.value = false))}
        side={
          <SideList
            items={(['open', ...groups] as const).map((key) => ({
              key,
              label: words(key),
              icon: icons[key],
              count: countOf(key),
            }))}
            selected={filter.value}
            onSelect={(key) => {
              filter.value = key as Group
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
              <SearchField label={words('search')} of={searchText} />
              <FileMenu of={entries} name={words('tasks')} />
            </Toolbar>
            {filter.value !== 'done' && <Add />}
            <div class="task-groups" tabIndex={-1}>
              <EntriesView
                of={entries}
                icon={ListTodo}
                count={shown.value.length}
                isFiltered={searchText.value !== ''}
                empty={
                  <EmptyState icon={ListTodo} title={words('none_yet')}>
                    {filter.value !== 'done' && <p>{words('none_yet_text')}</p>}
                  </EmptyState>
                }
              >
                {shown.value.map((one) => (
                  <GroupOfTasks key={one.group} {...one} />
                ))}
              </EntriesView>
            </div>
          </>
        }
      />
      <p class="unseen" role="status">
        {announcement}
      </p>
      {task && <TaskDialog key={entries.open.value} task={task} />}
    </>
  )
}
