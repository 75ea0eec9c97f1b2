import type { Candidate } from './row-files.ts'
import type { Row } from './row-values.ts'

/** A row of `svc_calendars`, as far as it says which events belong to it. */
export interface CalendarRow {
  id: number
  uid: string
  is_default: boolean
}

/** By ID, so that every client sees the same order. */
const inCalendarOrder = <C extends CalendarRow>(calendars: readonly C[]): C[] =>
  calendars.toSorted((a, b) => a.id - b.id)

/** The calendar of events that name none; undefined if no row says so. */
const defaultCalendar = <C extends CalendarRow>(calendars: readonly C[]): C | undefined =>
  inCalendarOrder(calendars).find(({ is_default }) => is_default)

/** The calendar that an event belongs to; undefined for the default one without a row. */
export function calendarOf<C extends CalendarRow>(calendars: readonly C[], uid: unknown): C | undefined {
  const named = typeof uid === 'string' ? inCalendarOrder(calendars).find((one) => one.uid === uid) : undefined
  return named ?? defaultCalendar(calendars)
}

/** The calendars with a name, or the one with that UID. */
export function calendarsNamed(calendars: readonly Row[], name: string): Row[] {
  const byUid = calendars.find((row) => row['uid'] === name)
  return byUid ? [byUid] : calendars.filter((row) => row['name'] === name)
}

/** Puts the events of a file into a calendar. */
export const intoCalendar = (candidates: readonly Candidate[], uid: string): Candidate[] =>
  candidates.map((candidate) => ({ ...candidate, values: { ...candidate.values, calendar_uid: uid } }))

/** What a calendar file says of itself. */
export interface CalendarFile {
  name: string | undefined
  /** `#rrggbb` */
  color: string | undefined
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\([nN\\;,])/g, (_, one: string) => (one.toLowerCase() === 'n' ? ' ' : one))

const escaped = (text: string): string =>
  text.replaceAll(/[\\;,]/g, (one) => `\\${one}`).replaceAll(/\r\n|\r|\n/g, String.raw`\n`)

/** Name and colour of an iCalendar file: RFC 7986, and the properties that came before it. */
export function readCalendarFile(text: string): CalendarFile {
  const body = text.replaceAll(/\r\n?/g, '\n').replaceAll(/\n[ \t]/g, '')
  const end = body.search(/\nBEGIN:(?!VCALENDAR)/i)
  const head = end === -1 ? body : body.slice(0, end)
  const valueOf = (name: string): string | undefined => new RegExp(`^${name}(?:;[^:\\n]*)?:(.*)$`, 'im').exec(head)?.[1]
  const name = unescaped(valueOf('X-WR-CALNAME') ?? valueOf('NAME') ?? '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
  const color = /^#[0-9a-f]{6}/i.exec(valueOf('X-APPLE-CALENDAR-COLOR')?.trim() ?? '')?.[0]
  return { name: [...name].slice(0, 500).join('') || undefined, color: color?.toLowerCase() }
}

/** The lines of a file that name its calendar. */
export const calendarLines = ({ name, color }: CalendarFile): string[] => [
  ...(name === undefined ? [] : [`X-WR-CALNAME:${escaped(name)}`]),
  ...(color === undefined ? [] : [`X-APPLE-CALENDAR-COLOR:${color.toUpperCase()}`]),
]
