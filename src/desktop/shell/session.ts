import { computed, effect, signal } from '@preact/signals'
import { makeBackoff } from '../../base/retry.ts'
import { ApiError } from '../kit/api-error.ts'
import type { ActionName, AnswerOf, ParamsOf } from '../wire/actions.ts'
import type { Person } from '../wire/protocol.ts'
import { callOnce, setCsrfToken, type CallOptions } from './api-calls.ts'
import { readItem, writeItem } from './local-storage.ts'

/** Which screen is shown. */
export type Stage = 'starting' | 'signed-out' | 'second-factor' | 'not-set-up' | 'unreachable' | 'signed-in'

export const stage = signal<Stage>('starting')
/** The user of the desktop; kept while it is locked. */
export const user = signal<Person | undefined>(undefined)
/** Why the desktop is locked: by the user, or because the session expired. */
export const lock = signal<'locked' | 'expired' | undefined>(undefined)

/** Whether the desktop may be shown. */
export const isUnlocked = computed(() => stage.value === 'signed-in' && lock.value === undefined)

let unlocking: { promise: Promise<void>; resolve: () => void } | undefined

function whenUnlocked(): Promise<void> {
  if (isUnlocked.value) return Promise.resolve()
  if (!unlocking) {
    let resolve = () => {}
    const promise = new Promise<void>((done) => void (resolve = done))
    unlocking = { promise, resolve }
  }
  return unlocking.promise
}

function startSession(person: Person, csrf: string): void {
  if (user.value && user.value.id !== person.id) {
    // Another user: discard the state of the previous one.
    location.reload()
    return
  }
  setCsrfToken(csrf)
  user.value = person
  lock.value = undefined
  stage.value = 'signed-in'
  unlocking?.resolve()
  unlocking = undefined
}

/** Key of the browser's storage. */
const END_DUE = 'svc.session-end-due'

const hasCode = (error: unknown, ...codes: string[]): boolean => error instanceof ApiError && codes.includes(error.code)

/** Restores the session of this browser, or ends it if that is due. */
export async function resumeSession(): Promise<void> {
  try {
    if (isEndDue.value) await endSession()
    // Signing out of an open desktop discards its state.
    if (user.value) return location.reload()
    const { user: person, csrf_token } = await callOnce('session.session', {})
    startSession(person, csrf_token)
  } catch (error) {
    if (hasCode(error, '2fa_required')) stage.value = 'second-factor'
    else if (hasCode(error, 'setup_required')) stage.value = 'not-set-up'
    else if (hasCode(error, 'unauthorized', 'maintenance')) stage.value = 'signed-out'
    else stage.value = 'unreachable'
  }
}

/** Delays between attempts to reach the server, ms. */
const UNREACHABLE = { first: 1_000, longest: 10_000, jitter: 0.5 }

/** Waits, but not longer than until the browser has a network again. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      removeEventListener('online', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
  })

let isReconnecting = false
async function reconnect(): Promise<void> {
  if (isReconnecting) return
  isReconnecting = true
  const backoff = makeBackoff(UNREACHABLE)
  while (stage.peek() === 'unreachable') {
    await pause(backoff.next()!)
    if (stage.peek() === 'unreachable') await resumeSession()
  }
  isReconnecting = false
}

effect(() => {
  if (stage.value === 'unreachable') void reconnect()
})

/** Signs in, or asks for the second factor. Throws `ApiError`. */
export async function signIn(username: string, password: string): Promise<void> {
  if (isEndDue.value) await endSession()
  const { user: person, csrf_token } = await callOnce('sessionLogin.login', { username, password })
  if (person && csrf_token !== undefined) startSession(person, csrf_token)
  else if (user.value === undefined) stage.value = 'second-factor'
  else awaitsCode.value = true
}

/** Whether a locked desktop waits for the second factor. */
export const awaitsCode = signal(false)

/** Completes sign-in with a second-factor code or a backup code. Throws `ApiError`. */
export async function confirmCode(code: string): Promise<void> {
  const { user: person, csrf_token } = await callOnce('sessionLogin2fa.login_2fa', { totp_code: code })
  awaitsCode.value = false
  startSession(person, csrf_token)
}

export function backToPassword(): void {
  awaitsCode.value = false
  if (stage.value === 'second-factor') stage.value = 'signed-out'
}

/** Reloads the signed-in user. */
export async function refreshUser(): Promise<void> {
  const { user: person, csrf_token } = await call('session.session', {})
  startSession(person, csrf_token)
}

/** Whether a request to end the session failed. It survives a reload. */
export const isEndDue = signal(readItem(END_DUE, false))

/** Ends the session. Throws `ApiError`; then it is ended before this browser uses the desktop again. */
async function endSession(): Promise<void> {
  // The page may be closed before there is an answer.
  writeItem(END_DUE, true)
  try {
    // A reloaded page has no token, and another tab may have replaced it.
    const { csrf_token } = await callOnce('session.session', {})
    setCsrfToken(csrf_token)
    await callOnce('sessionLogout.logout', {})
  } catch (error) {
    if (!hasCode(error, 'unauthorized', '2fa_required')) {
      isEndDue.value = true
      throw error
    }
  }
  isEndDue.value = false
  writeItem(END_DUE, undefined)
}

/** Ends the session and discards all state. */
export async function signOut(): Promise<void> {
  try {
    await endSession()
    location.reload()
  } catch {
    stage.value = 'unreachable'
  }
}

/** Ends the session but keeps the desktop for the same user. */
export async function lockDesktop(): Promise<void> {
  lock.value = 'locked'
  await endSession().catch(() => undefined)
}

/** Uses the session of another tab if there is one; otherwise locks the desktop and waits for sign-in. */
async function renewSession(): Promise<void> {
  if (isUnlocked.value) {
    const renewed = await callOnce('session.session', {}).catch((error: unknown) => {
      if (!hasCode(error, 'unauthorized', '2fa_required', 'maintenance')) throw error
      return undefined
    })
    if (renewed) return startSession(renewed.user, renewed.csrf_token)
    lock.value ??= 'expired'
  }
  await whenUnlocked()
}

/** Calls an action. If the session has expired, repeats the call after the next sign-in. Throws `ApiError`. */
export async function call<N extends ActionName>(
  name: N,
  params: ParamsOf<N>,
  sending: CallOptions = {},
): Promise<AnswerOf<N>> {
  await whenUnlocked()
  try {
    return await callOnce(name, params, sending)
  } catch (error) {
    if (!hasCode(error, 'unauthorized', 'csrf', '2fa_required')) throw error
    await renewSession()
    return callOnce(name, params, sending)
  }
}
