import { effect } from '@preact/signals'
import { render } from 'preact'
import { withRetry } from '../../base/retry.ts'
import { isTransient, type ApiError } from '../kit/api-error.ts'
import { Dialogs } from '../kit/dialog.tsx'
import { keyName } from '../kit/key-name.ts'
import { toastError, Toasts } from '../kit/toast.tsx'
import './shell.css'
import { appBySlug, refreshApps } from './apps.ts'
import { startBackButton } from './back-button.ts'
import { startChatNotifications, unreadMessages } from './chat-notifications.ts'
import { startComponents } from './components/components.ts'
import { Desktop } from './desktop.tsx'
import { followFeed, LONGEST_RETRY_AFTER, REFUSED } from './feed.ts'
import { schedulePrewarm } from './frame-registry.ts'
import { runKeyBinding } from './key-bindings.ts'
import { followDeepLinks } from './deep-link.ts'
import { startDatedRows } from './dated-rows.ts'
import { ringing, startReminders } from './reminders/reminders.ts'
import { startSecurityNotifications } from './security-notifications.ts'
import { registerServiceWorker } from './register-worker.ts'
import { resumeSession, isUnlocked, lock, stage } from './session.ts'
import { SignInScreen, LockScreen } from './sign-in.tsx'
import { startToday } from './today/today-items.ts'
import './wallpaper.ts'
import { restoreWindows } from './windows.ts'

function Page() {
  return (
    <>
      {stage.value === 'signed-in' ? <Desktop /> : <SignInScreen />}
      {stage.value === 'signed-in' && lock.value && <LockScreen />}
      <Dialogs />
      <Toasts />
    </>
  )
}

addEventListener('keydown', (event) => {
  if (isUnlocked.value && runKeyBinding(keyName(event))) event.preventDefault()
})

effect(() => {
  const count = unreadMessages.value + ringing.value.size
  document.title = count > 0 ? `(${count}) svc` : 'svc'
})

let isFollowing = false
function startFeed(): void {
  if (isFollowing) return
  isFollowing = true
  void followFeed()
}

/** Loads the list of apps, as soon as the server can be reached; the feed says that it cannot. */
const loadApps = (): Promise<void> =>
  withRetry(refreshApps, {
    ...REFUSED,
    isTemporary: isTransient,
    retryAfterOf: (error) => Math.min(1_000 * ((error as ApiError).retryAfter ?? 0), LONGEST_RETRY_AFTER),
    onWait: startFeed,
  }).catch(toastError)

let isStarted = false
effect(() => {
  if (!isUnlocked.value || isStarted) return
  isStarted = true
  void loadApps()
    .then(restoreWindows)
    .then(startBackButton)
    .then(followDeepLinks)
    .then(startComponents)
    .then(schedulePrewarm)
    .finally(() => {
      startSecurityNotifications()
      startChatNotifications()
      if (appBySlug('calendar') || appBySlug('tasks')) {
        startReminders()
        startToday()
        startDatedRows()
      }
      startFeed()
    })
})

render(<Page />, document.querySelector('#root')!)
void resumeSession().then(registerServiceWorker)
