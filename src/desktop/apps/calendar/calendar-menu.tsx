import { Check, Download, EllipsisVertical, Palette, Trash2 } from 'lucide'
import { Icon } from '../../kit/icon.tsx'
import { Menu } from '../../kit/menu.tsx'
import { saveRows } from '../../kit/row-files/save-rows.ts'
import { fileWords } from '../../kit/row-files/words.ts'
import { toastError } from '../../kit/toast.tsx'
import { calendars, eventsOf, newEventsCalendar, type Calendar } from './event-calendars.ts'
import { isManaging, removal } from './open-dialogs.ts'
import { setNewEventsCalendar } from './store.ts'
import { words } from './words.ts'

/** Saves the events of one calendar as a file that names it. */
function exportCalendar(calendar: Calendar): Promise<void> {
  const rows = eventsOf(calendar).flatMap(({ row }) => (row ? [row] : []))
  const name = calendar.name.replaceAll(/[\p{Cc}\\/:*?"<>|]/gu, '_')
  const { color } = calendar
  return saveRows('svc_events', rows, {
    format: 'ics',
    name,
    calendar: { name: calendar.name, color: color ?? undefined },
  })
}

/** What can be done with one calendar. */
export function CalendarMenu({ calendar }: { calendar: Calendar }) {
  const isFirst = calendar === calendars.value[0]
  const { row } = calendar
  return (
    <Menu
      label={words('more_of', calendar.name)}
      items={[
        {
          label: words('for_new_events'),
          icon: Check,
          checked: calendar === newEventsCalendar.value,
          onSelect: () => setNewEventsCalendar(calendar.uid),
        },
        ...(isManaging.value
          ? []
          : [{ label: words('name_and_color'), icon: Palette, onSelect: () => void (isManaging.value = true) }]),
        {
          label: fileWords('export', 'ics'),
          icon: Download,
          onSelect: () => void exportCalendar(calendar).catch(toastError),
        },
        ...(isFirst || !row
          ? []
          : [
              {
                label: words('delete_calendar', calendar.name),
                icon: Trash2,
                danger: true,
                onSelect: () => void (removal.value = { id: row.id, target: calendars.value[0]!.uid }),
              },
            ]),
      ]}
    >
      <Icon of={EllipsisVertical} />
    </Menu>
  )
}
