import { effect } from '@preact/signals'
import { formatDateTime } from '../kit/formats.ts'
import { securityAdvice, securityEventActor, securityEventTitle, type SecurityEvent } from '../kit/security-words.ts'
import { notify } from './notices.ts'
import { call, isOpen, user } from './session.ts'
import { readStored, store } from './stored.ts'

/** Of an account that this browser does not know, only events of the last days are news. */
const NEW_FOR_MS = 7 * 86_400_000
/** The least time between two looks. */
const PAUSE_MS = 60_000

// Which event was the last that the user was told of is kept by the browser, not by the server: whoever took a session over
// cannot mark an event as seen everywhere.
const keyOf = (id: number): string => `svc.security-events.${id}`

const detailOf = (event: SecurityEvent): string =>
  [formatDateTime(event.at), securityEventActor(event), event.ip].filter(Boolean).join(' · ')

let lookedAt = -PAUSE_MS

async function look(): Promise<void> {
  if (!isOpen.value || document.hidden || performance.now() - lookedAt < PAUSE_MS) return
  lookedAt = performance.now()
  const id = user.value!.id
  const { events } = await call('accountSettings.security_events', {})
  const last = readStored<number | undefined>(keyOf(id), undefined)
  const isNew = (event: SecurityEvent): boolean =>
    last === undefined ? Date.parse(event.at) > Date.now() - NEW_FOR_MS : event.id > last
  for (const event of events.filter(isNew).reverse())
    notify('settings', securityEventTitle(event), `${detailOf(event)}. ${securityAdvice()}`, '/security_events')
  store(keyOf(id), events[0]?.id ?? last ?? 0)
}

/** Notifies the user of changes to who can get into the account, at the start and whenever the page comes to the front. */
export function startSecurityNotices(): void {
  // A look that fails is made up for by the next one.
  const tryLook = (): void => void look().catch(() => (lookedAt = -PAUSE_MS))
  document.addEventListener('visibilitychange', tryLook)
  addEventListener('focus', tryLook)
  effect(() => {
    if (isOpen.value) tryLook()
  })
}
