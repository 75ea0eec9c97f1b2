import { online, type Person } from './store.ts'
import { words } from './words.ts'

/** Initials of the first two words. */
const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase()

/** Whether dark text has more contrast on a colour than white (relative luminance, WCAG 2). */
function isLight(color: string): boolean {
  const channels = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * channels[0]! + 0.7152 * channels[1]! + 0.0722 * channels[2]! > 0.179
}

/** A user's initials on their colour, optionally with a dot while online. */
export function Avatar({ of: { id, display_name, avatar_color }, dot }: { of: Person; dot?: boolean }) {
  const color = /^#[0-9a-f]{6}$/i.test(avatar_color) ? avatar_color : '#5b6475'
  const isOnline = dot && online.value.has(id)
  return (
    <span class="avatar" style={{ background: color, color: isLight(color) ? '#111' : '#fff' }}>
      <span aria-hidden="true">{initials(display_name)}</span>
      {isOnline && (
        <span class="dot">
          <span class="unseen">{words('online')}</span>
        </span>
      )}
    </span>
  )
}
