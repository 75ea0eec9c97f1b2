import { Plus, X } from 'lucide'
import { Button, IconButton } from './button.tsx'
import { Select } from './field.tsx'
import { formatTime } from './formats.ts'
import { catalogue, language } from './language.ts'
import './reminder-fields.css'

const words = catalogue(
  {
    reminder: 'Reminder',
    nth: (number: number) => `Reminder ${number}`,
    add: 'Add reminder',
    remove: (number: number) => `Remove reminder ${number}`,
    at_start: 'At the time',
    before: (time: string) => `${time} before`,
    after: (time: string) => `${time} after`,
    on_day: (time: string) => `On the day at ${time}`,
    days_before: (days: string, time: string) => `${days} before at ${time}`,
    days_after: (days: string, time: string) => `${days} after at ${time}`,
  },
  {
    reminder: 'Erinnerung',
    nth: (number) => `Erinnerung ${number}`,
    add: 'Erinnerung hinzufügen',
    remove: (number) => `Erinnerung ${number} entfernen`,
    at_start: 'Zum Zeitpunkt',
    before: (time) => `${time} vorher`,
    after: (time) => `${time} danach`,
    on_day: (time) => `Am selben Tag um ${time}`,
    days_before: (days, time) => `${days} vorher um ${time}`,
    days_after: (days, time) => `${days} danach um ${time}`,
  },
)

const HOUR = 60
const DAY = 24 * HOUR

/** Proposals, minutes before; of days without hours, at nine. */
const ofHours = [0, 5, 10, 15, 30, HOUR, 2 * HOUR, DAY, 2 * DAY, 7 * DAY]
const ofDays = [-9 * HOUR, DAY - 9 * HOUR, 2 * DAY - 9 * HOUR, 7 * DAY - 9 * HOUR]

const MAX_REMINDERS = 5

const amount = (value: number, unit: 'minute' | 'hour' | 'day'): string =>
  new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'long' }).format(value)

function length(minutes: number): string {
  if (minutes % DAY === 0) return amount(minutes / DAY, 'day')
  return minutes % HOUR === 0 ? amount(minutes / HOUR, 'hour') : amount(minutes, 'minute')
}

function labelOf(minutes: number, isDay: boolean): string {
  if (!isDay) {
    if (minutes === 0) return words('at_start')
    return minutes > 0 ? words('before', length(minutes)) : words('after', length(-minutes))
  }
  const days = Math.ceil(minutes / DAY)
  const time = formatTime(new Date(2026, 0, 1, 0, days * DAY - minutes))
  if (days === 0) return words('on_day', time)
  return days > 0 ? words('days_before', amount(days, 'day'), time) : words('days_after', amount(-days, 'day'), time)
}

/** What a change of reminders writes: those that have passed do not ring any more. */
export interface ReminderChange {
  reminders: string[]
  reminded_at: string
  snoozed_until: null
}

/** When an event or a task reminds of itself. */
export function ReminderFields({
  reminders,
  isDay,
  onChange,
}: {
  reminders: readonly string[] | null
  /** Whether it has days and no hours. */
  isDay: boolean
  onChange: (change: ReminderChange) => void
}) {
  const chosen = (reminders ?? []).map(Number)
  const proposals = isDay ? ofDays : ofHours
  const write = (minutes: readonly number[]): void =>
    onChange({
      reminders: [...new Set(minutes)].map(String),
      reminded_at: new Date().toISOString(),
      snoozed_until: null,
    })
  const free = proposals.filter((minutes) => !chosen.includes(minutes))
  const first = isDay ? free[0] : (free.find((minutes) => minutes >= 10) ?? free[0])
  return (
    <div class="reminder-fields">
      {chosen.map((minutes, index) => (
        <div key={minutes} class="reminder-field">
          <Select
            label={chosen.length === 1 ? words('reminder') : words('nth', index + 1)}
            options={[...new Set([minutes, ...proposals])]
              .filter((one) => one === minutes || !chosen.includes(one))
              .toSorted((a, b) => a - b)
              .map((one) => ({ value: `${one}`, label: labelOf(one, isDay) }))}
            value={`${minutes}`}
            onChange={({ currentTarget }) => write(chosen.with(index, Number(currentTarget.value)))}
          />
          <IconButton icon={X} label={words('remove', index + 1)} onClick={() => write(chosen.toSpliced(index, 1))} />
        </div>
      ))}
      {chosen.length < MAX_REMINDERS && first !== undefined && (
        <Button kind="quiet" icon={Plus} onClick={() => write([...chosen, first])}>
          {words('add')}
        </Button>
      )}
    </div>
  )
}
