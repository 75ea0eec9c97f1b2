import { signal } from '@preact/signals'
import { iso, MINUTE } from '../../../base/clock.ts'
import { formatDateTime, formatDay, formatTime } from '../../kit/formats.ts'
import { ownZone, today } from '../../kit/local-day.ts'
import { makeExpander } from '../../kit/recurrence/expander.ts'
import { toastError } from '../../kit/toast.tsx'
import { onDatedRows } from '../dated-rows.ts'
import { markPathRead, notify } from '../desktop-notifications.ts'
import { call, isUnlocked } from '../session.ts'
import { startScript } from '../worker-scripts.ts'
import { words } from '../words.ts'
import { makeRingQueue, type Ringing } from './ring-queue.ts'
import type { RemindedTable, ReminderRow } from './ring-times.ts'

export const SNOOZE = 10 * MINUTE

/** Longest time between checks, ms: timers stand still while a computer sleeps. */
const LONGEST_WAIT = MINUTE

const slugs: Record<RemindedTable, string> = { svc_events: 'calendar', svc_tasks: 'tasks' }

/** What rings, by row. */
export const ringing = signal<ReadonlyMap<string, Ringing>>(new Map())

/** `Today, 18:00`, or the day. */
export function startText({ start, isDay }: Ringing): string {
  // Days are stored at midnight UTC.
  if (isDay) return formatDay(`${new Date(start).toISOString().slice(0, 10)}T12:00`)
  return today(new Date(start)) === today() ? words('today_at', formatTime(start)) : formatDateTime(start)
}

export const appOf = ({ table }: Ringing): string => slugs[table]
export const pathOf = ({ id }: Ringing): string => `/${id}`

/** Also tells the user outside of the browser, if that was allowed and the page is hidden. */
function showOutside(one: Ringing): void {
  if (!document.hidden || !isUnlocked.value || !('Notification' in window) || Notification.permission !== 'granted')
    return
  try {
    new Notification(one.title, { body: startText(one), tag: one.key }).addEventListener('click', () => focus())
  } catch {
    // Some browsers of phones have only notifications of service workers.
  }
}

function set(key: string, one: Ringing | undefined): void {
  const known = ringing.value.get(key)
  // What was dismissed on another device is read here, too.
  if (known && !one) markPathRead(appOf(known), pathOf(known))
  if (known?.at === one?.at && known?.title === one?.title && known?.start === one?.start) return
  const rings = new Map(ringing.value)
  if (one) rings.set(key, one)
  else rings.delete(key)
  ringing.value = rings
  if (!one || known?.at === one.at) return
  notify(appOf(one), one.title || words('untitled'), startText(one), pathOf(one), { isSilent: true })
  showOutside(one)
}

const queue = makeRingQueue({
  now: Date.now,
  ownZone: ownZone(),
  expand: makeExpander(async () => startScript('recurrence')),
  onChange: set,
})

let timer: ReturnType<typeof setTimeout> | undefined

function check(): void {
  clearTimeout(timer)
  queue.check()
  timer = setTimeout(check, Math.min(queue.wait(), LONGEST_WAIT))
}

const isReminded = (table: string): table is RemindedTable => Object.hasOwn(slugs, table)

/** Ends the ringing of rows, for all devices of the account; with `snoozed`, they ring again then. */
export async function acknowledge(rings: readonly Ringing[], snoozed?: number): Promise<void> {
  const rest = new Map(ringing.value)
  for (const one of rings) {
    rest.delete(one.key)
    markPathRead(appOf(one), pathOf(one))
  }
  ringing.value = rest
  const operations = rings.map(({ table, id, at }) => ({
    table,
    operation: 'UPDATE' as const,
    data: { id, reminded_at: iso(at), snoozed_until: snoozed === undefined ? null : iso(snoozed) },
  }))
  try {
    for (let from = 0; from < operations.length; from += 100)
      await call('rows.push', { operations: operations.slice(from, from + 100) })
  } catch (error) {
    toastError(error)
    ringing.value = new Map([...ringing.value, ...rings.map((one) => [one.key, one] as const)])
  }
}

/** Follows the reminders of events and tasks while the page is open. */
export function startReminders(): void {
  onDatedRows((changes, reset) => {
    if (reset) queue.clear()
    for (const { table, operation, data } of changes) {
      if (!isReminded(table)) continue
      if (operation === 'DELETE') queue.remove(table, data.id)
      else queue.put(table, data as unknown as ReminderRow)
    }
    check()
  })
  // After sleep, and where timers of hidden pages are slow.
  for (const event of ['focus', 'pageshow', 'online']) addEventListener(event, check)
  document.addEventListener('visibilitychange', check)
}
