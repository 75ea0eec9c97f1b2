import { effect } from '@preact/signals'
import { formatDateTime } from '../kit/formats.ts'
import { securityAdvice, securityEventActor, securityEventTitle, type SecurityEvent } from '../kit/security-words.ts'
import { notify } from './desktop-notifications.ts'
import { call, isUnlocked, user } from './session.ts'
import { readItem, writeItem } from './local-storage.ts'

/** Of an account that this browser does not know, only events of the last days are news. */
const NEW_FOR_MS = 7 * 86_400_000
/** The least time between two looks. */
const MIN_INTERVAL_MS = 60_000

// Which event was the last that the user was told of is kept by the browser, not by the server: whoever took a session over
// cannot mark an event as seen everywhere.
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

/** Notifies the user of changes to who can get into the account, at the start and whenever the page comes to the front. */
export function startSecurityNotifications(): void {
  // A look that fails is made up for by the next one.
  const tryCheck = (): void => void checkEvents().catch(() => (checkedAt = -MIN_INTERVAL_MS))
  document.addEventListener('visibilitychange', tryCheck)
  addEventListener('focus', tryCheck)
  effect(() => {
    if (isUnlocked.value) tryCheck()
  })
}
