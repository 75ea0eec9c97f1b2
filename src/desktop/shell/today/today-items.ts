import { batch, computed, effect, signal } from '@preact/signals'
import { MINUTE } from '../../../base/clock.ts'
import type { CalendarRow } from '../../../client/rows/calendars.ts'
import { today } from '../../kit/local-day.ts'
import { makeExpander } from '../../kit/recurrence/expander.ts'
import { isSeries } from '../../kit/recurrence/series-starts.ts'
import { appBySlug } from '../apps.ts'
import { onDatedRows } from '../dated-rows.ts'
import { startScript } from '../worker-scripts.ts'
import { agendaOf, expansionFor, type AgendaItem, type EventRow, type TaskRow } from './agenda.ts'

type Rows<R> = ReadonlyMap<number, R>

const rows = {
  svc_events: signal<Rows<EventRow>>(new Map()),
  svc_tasks: signal<Rows<TaskRow>>(new Map()),
  svc_calendars: signal<Rows<CalendarRow & { hidden: boolean }>>(new Map()),
}
const now = signal(Date.now())
const day = computed(() => today(new Date(now.value)))
/** Starts of series around today, by the ID of their row. */
const expanded = signal<Rows<readonly number[]>>(new Map())
const isLoaded = signal(false)

/** What is planned for today, for the apps that the account has; undefined until the rows are there. */
export const todayItems = computed<readonly AgendaItem[] | undefined>(() => {
  if (!isLoaded.value) return undefined
  const { svc_events: events, svc_tasks: tasks, svc_calendars: calendars } = rows
  const all = { events: events.value.values(), tasks: tasks.value.values(), calendars: [...calendars.value.values()] }
  return agendaOf(all, day.value, now.value, expanded.value).filter(({ slug }) => appBySlug(slug))
})

const expand = makeExpander(async () => startScript('recurrence'))

/** What was requested for a series: its expansion changes with its rule, its times and the day. */
const requested = new Map<number, string>()

function expandSeries(): void {
  for (const event of rows.svc_events.value.values()) {
    if (event.rrule === null || !isSeries(event)) continue
    const expansion = expansionFor(event, day.value)
    const key = JSON.stringify(expansion)
    if (requested.get(event.id) === key) continue
    requested.set(event.id, key)
    void expand(expansion).then((starts) => {
      if (requested.get(event.id) === key) expanded.value = new Map([...expanded.value, [event.id, starts ?? []]])
    })
  }
}

/** Follows what is planned for today while the page is open. */
export function startToday(): void {
  onDatedRows((changes, reset) =>
    batch(() => {
      for (const table of Object.keys(rows) as (keyof typeof rows)[]) {
        const own = changes.filter((change) => change.table === table)
        if (own.length === 0 && !reset) continue
        const next = new Map<number, never>(reset ? [] : (rows[table].value as Rows<never>))
        for (const { operation, data } of own) {
          if (operation === 'DELETE') next.delete(data.id)
          else next.set(data.id, data as never)
        }
        rows[table].value = next
      }
      isLoaded.value = true
    }),
  )
  effect(expandSeries)
  const tick = (): void => void (now.value = Date.now())
  setInterval(tick, MINUTE)
  // Timers stand still while a computer sleeps.
  document.addEventListener('visibilitychange', tick)
}
