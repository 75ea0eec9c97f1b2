import { effect } from '@preact/signals'
import { render } from 'preact'
import { Dialogs } from '../kit/dialog.tsx'
import { keyName } from '../kit/key-name.ts'
import { Toasts } from '../kit/toast.tsx'
import './shell.css'
import { refreshApps } from './apps.ts'
import { startComponents } from './components/components.ts'
import { Desktop } from './desktop.tsx'
import { follow } from './feed.ts'
import { prepareNext } from './frames.ts'
import { press } from './keys.ts'
import { openLinked } from './linked.ts'
import { startSecurityNotices } from './security-notices.ts'
import { begin, isOpen, lock, stage } from './session.ts'
import { Gate, LockScreen } from './sign-in.tsx'
import './wallpaper.ts'
import { restore } from './windows.ts'

function Page() {
  return (
    <>
      {stage.value === 'signed-in' ? <Desktop /> : <Gate />}
      {stage.value === 'signed-in' && lock.value && <LockScreen />}
      <Dialogs />
      <Toasts />
    </>
  )
}

addEventListener('keydown', (event) => {
  if (isOpen.value && press(keyName(event))) event.preventDefault()
})

let isStarted = false
effect(() => {
  if (!isOpen.value || isStarted) return
  isStarted = true
  void refreshApps()
    .then(restore)
    .then(openLinked)
    .then(startComponents)
    .then(prepareNext)
    .finally(() => {
      startSecurityNotices()
      void follow()
    })
})

render(<Page />, document.querySelector('#root')!)
void begin()
