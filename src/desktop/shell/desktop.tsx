import { CloudOff } from 'lucide'
import { Banner } from '../kit/banner.tsx'
import { Icon } from '../kit/icon.tsx'
import { Bar } from './top-bar.tsx'
import { Components } from './components/component-frames.tsx'
import { Dock } from './dock.tsx'
import { maintenance, online } from './feed.ts'
import { KeyboardHelp } from './keyboard-help.tsx'
import { helpOpen, launcherOpen } from './key-bindings.ts'
import { Launcher } from './launcher.tsx'
import { ReminderCards } from './reminders/reminder-cards.tsx'
import { lock } from './session.ts'
import { Home } from './today/home.tsx'
import { SnapPreview, WindowFrame } from './window-frame.tsx'
import { front, prewarmed, windows } from './windows.ts'
import { words } from './words.ts'

/** The desktop of the signed-in user. It stays mounted, hidden and inert, while it is locked. */
export function Desktop() {
  return (
    <div class="desktop" inert={lock.value !== undefined} hidden={lock.value !== undefined}>
      <h1 class="unseen">{words('desktop')}</h1>
      <Bar />
      {!online.value && (
        <Banner>
          <Icon of={CloudOff} /> {words('offline')}
        </Banner>
      )}
      {maintenance.value !== undefined && <Banner>{maintenance.value || words('maintenance')}</Banner>}
      <Home hidden={front.value !== undefined} />
      <main class="windows" aria-label={words('desktop')}>
        <Components />
        {[...windows.value, ...(prewarmed.value ? [prewarmed.value] : [])].map((one) => (
          <WindowFrame key={`${one.id}`} window={one} />
        ))}
        <SnapPreview />
      </main>
      <Dock />
      <ReminderCards />
      {launcherOpen.value && <Launcher />}
      {helpOpen.value && <KeyboardHelp />}
    </div>
  )
}
