import { calendars, type Calendar } from './event-calendars.ts'

/** The properties of a calendar's colour, for the styles. */
export const colorOf = ({ color }: Calendar): Record<string, string> => (color === null ? {} : { '--calendar': color })

/** The letter of a calendar on its colour; shown where there are several. */
export function CalendarSign({ of }: { of: Calendar }) {
  if (calendars.value.length < 2) return null
  return (
    <span class="calendar-sign" style={colorOf(of)} aria-hidden>
      {of.sign}
    </span>
  )
}
