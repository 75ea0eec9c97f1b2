import { AlarmClock, BellOff, BellRing } from 'lucide'
import { Button } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { listOpen } from '../desktop-notifications.ts'
import { openApp } from '../windows.ts'
import { words } from '../words.ts'
import { acknowledge, appOf, pathOf, ringing, SNOOZE, startText } from './reminders.ts'
import type { Ringing } from './ring-queue.ts'
import './reminder-cards.css'

/** Most reminders that are shown at once. */
const MAX_CARDS = 3

function Card({ of, onOpen }: { of: Ringing; onOpen?: (() => void) | undefined }) {
  const title = of.title || words('untitled')
  return (
    <li class="reminder">
      <Icon of={AlarmClock} />
      <button
        type="button"
        class="reminder-open"
        onClick={() => {
          onOpen?.()
          openApp(appOf(of), pathOf(of))
        }}
      >
        <strong dir="auto">{title}</strong>
        <span>{startText(of)}</span>
      </button>
      <span class="reminder-actions">
        <Button aria-label={words('snooze_named', title)} onClick={() => void acknowledge([of], Date.now() + SNOOZE)}>
          {words('snooze')}
        </Button>
        <Button kind="main" aria-label={words('dismiss_named', title)} onClick={() => void acknowledge([of])}>
          {words('dismiss')}
        </Button>
      </span>
    </li>
  )
}

/** Offers notifications outside of the page, where the browser has them and was not asked yet. */
function AskBrowser() {
  if (!('Notification' in window) || !isSecureContext || Notification.permission !== 'default') return null
  return (
    <Button kind="quiet" icon={BellRing} onClick={() => void Notification.requestPermission()}>
      {words('allow_notifications')}
    </Button>
  )
}

/** The reminders that ring. `onOpen` is called before the app of one is opened. */
export function Reminders({ onOpen }: { onOpen?: () => void }) {
  const rings = [...ringing.value.values()].toSorted((a, b) => b.at - a.at)
  const hidden = rings.length - MAX_CARDS
  return (
    <section class="reminders" aria-label={words('reminders')} hidden={rings.length === 0}>
      <ul aria-live="assertive">
        {rings.slice(0, MAX_CARDS).map((one) => (
          <Card key={one.key} of={one} onOpen={onOpen} />
        ))}
      </ul>
      {rings.length > 0 && (
        <footer>
          {hidden > 0 && <span>{words('more', hidden)}</span>}
          <AskBrowser />
          {rings.length > 1 && (
            <Button kind="quiet" icon={BellOff} onClick={() => void acknowledge(rings)}>
              {words('dismiss_all')}
            </Button>
          )}
        </footer>
      )}
    </section>
  )
}

/** The reminders above the dock. While the notifications are open, they are shown there. */
export const ReminderCards = () => (listOpen.value ? null : <Reminders />)
