import { Bell, Keyboard, Lock, LogOut, Monitor, Moon, Search, Settings, Sun, WifiOff } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button, IconButton } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { formatTime, formatWhen } from '../kit/formats.ts'
import { Icon } from '../kit/icon.tsx'
import { Menu } from '../kit/menu.tsx'
import { appBySlug } from './apps.ts'
import { AppIcon } from './app-icon.tsx'
import { appName, sourceName } from './app-name.ts'
import { online } from './feed.ts'
import { helpOpen, launcherOpen } from './key-bindings.ts'
import { clearNotifications, listOpen, notifications, markAllRead, unreadCount } from './desktop-notifications.ts'
import { Reminders } from './reminders/reminder-cards.tsx'
import { setPreferences, preferences } from './preferences.ts'
import { lockDesktop, signOut, user } from './session.ts'
import { WindowButtons } from './window-buttons.tsx'
import { front, isPhone, openApp } from './windows.ts'
import { words } from './words.ts'

function Clock() {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 10_000)
    return () => clearInterval(timer)
  }, [])
  return <time dateTime={now.toISOString()}>{formatTime(now)}</time>
}

function Notifications({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={words('notifications')} onClose={onClose}>
      <Reminders onOpen={onClose} />
      {notifications.value.length === 0 && <p class="soft">{words('no_notifications')}</p>}
      <ul class="notices">
        {notifications.value.map(({ id, slug, title, text, path, at }) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => {
                onClose()
                openApp(slug, path)
              }}
            >
              <AppIcon slug={slug} size={32} />
              <span>
                <bdi class="source">{sourceName(slug)}</bdi>
                <strong dir="auto">{title}</strong>
                {text && <span dir="auto">{text}</span>}
                <small>{formatWhen(at)}</small>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {notifications.value.length > 0 && (
        <footer>
          <Button onClick={clearNotifications}>{words('clear_all')}</Button>
        </footer>
      )}
    </Dialog>
  )
}

function AccountMenu() {
  const { theme } = preferences.value
  const name = user.value?.display_name ?? ''
  return (
    <Menu
      label={`${words('account')}: ${name}`}
      class="account"
      items={[
        ...(appBySlug('settings')
          ? [{ label: appName('settings'), icon: Settings, onSelect: () => void openApp('settings') }]
          : []),
        {
          label: words('light'),
          icon: Sun,
          checked: theme === 'light',
          onSelect: () => setPreferences({ theme: 'light' }),
        },
        {
          label: words('dark'),
          icon: Moon,
          checked: theme === 'dark',
          onSelect: () => setPreferences({ theme: 'dark' }),
        },
        {
          label: words('as_system'),
          icon: Monitor,
          checked: theme === 'system',
          onSelect: () => setPreferences({ theme: 'system' }),
        },
        { label: words('keyboard'), icon: Keyboard, onSelect: () => void (helpOpen.value = true) },
        { label: words('lock'), icon: Lock, onSelect: () => void lockDesktop() },
        { label: words('sign_out'), icon: LogOut, onSelect: () => void signOut() },
      ]}
    >
      <span class="avatar" aria-hidden="true">
        {[...name][0]?.toUpperCase()}
      </span>
    </Menu>
  )
}

export function Bar() {
  const count = unreadCount.value
  const one = front.value
  // On phones, the bar also serves as title bar of the window.
  const ofWindow = isPhone.value ? one : undefined
  return (
    <header class={ofWindow ? 'bar of-window' : 'bar'} aria-label={words('bar')}>
      {ofWindow && <AppIcon slug={ofWindow.slug} size={22} />}
      <span class="bar-title">{one ? one.title || appName(one.slug) : 'svc'}</span>
      {ofWindow?.unsaved && <span class="unsaved-dot" aria-hidden="true" />}
      {!online.value && <Icon of={WifiOff} />}
      {!ofWindow && (
        <IconButton
          icon={Search}
          label={`${words('launcher')} (Ctrl K)`}
          onClick={() => void (launcherOpen.value = true)}
        />
      )}
      <span class="with-badge">
        <IconButton
          icon={Bell}
          label={count > 0 ? `${words('notifications')} (${count})` : words('notifications')}
          onClick={() => {
            listOpen.value = true
            markAllRead()
          }}
        />
        {count > 0 && (
          <span class="badge" aria-hidden="true">
            {count}
          </span>
        )}
      </span>
      {!ofWindow && <Clock />}
      <AccountMenu />
      {ofWindow && <WindowButtons window={ofWindow} />}
      {listOpen.value && <Notifications onClose={() => void (listOpen.value = false)} />}
    </header>
  )
}
