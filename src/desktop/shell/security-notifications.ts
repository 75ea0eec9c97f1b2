import { effect } from '@preact/signals'
import { formatDateTime } from '../kit/formats.ts'
import { securityAdvice, securityEventActor, securityEventTitle, type SecurityEvent } from '../kit/security-words.ts'
import { notify } from './desktop-notifications.ts'
import { call, isUnlocked, user } from './session.ts'
import { readItem, writeItem } from './local-storage.ts'

/** Age limit of events for an account that is new to this browser. */
const NEW_FOR_MS = 7 * 86_400_000
/** Minimum interval between checks. */
const MIN_INTERVAL_MS = 60_000

// The last seen event is stored in the browser, not on the server: someone who stole a session cannot mark an event as
// seen on all devices.
const keyOf = (id: number): string => `svc.security-events.${id}`

const detailOf = (event: SecurityEvent): string =>
  [formatDateTime(event.at), securityEventActor(event), event.ip].filter(Boolean).join(' · ')

let checkedAt = -MIN_INTERVAL_MS

async function checkEvents(): Promise<void> {
  if (!isUnlocked.value || document.hidden || performance.now() - checkedAt < MIN_INTERVAL_MS) return
  checkedAt = performance.now()
  const id = user.value!.id
  const { events } = await call('accountSettings.security_events', {})
  const last = readItem<number | undefined>(keyOf(id), undefined)
  const isNew = (event: SecurityEvent): boolean =>
    last === undefined ? Date.parse(event.at) > Date.now() - NEW_FOR_MS : event.id > last
  for (const event of events.filter(isNew).reverse())
    notify('settings', securityEventTitle(event), `${detailOf(event)}. ${securityAdvice()}`, '/security_events')
  writeItem(keyOf(id), events[0]?.id ?? last ?? 0)
}

/** Starts notifications of security events; checks at the start and when the page gets the focus. */
export function startSecurityNotifications(): void {
  // After an error, check again at the next event.
  const tryCheck = (): void => void checkEvents().catch(() => (checkedAt = -MIN_INTERVAL_MS))
  document.addEventListener('visibilitychange', tryCheck)
  addEventListener('focus', tryCheck)
  effect(() => {
    if (isUnlocked.value) tryCheck()
  })
}
