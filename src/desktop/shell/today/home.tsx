import { formatDateTime, formatDay, formatTime } from '../../kit/formats.ts'
import { today } from '../../kit/local-day.ts'
import { AppIcon } from '../app-icon.tsx'
import { apps } from '../apps.ts'
import { unreadMessages } from '../chat-notifications.ts'
import { LauncherApp } from '../launcher-app.tsx'
import { user } from '../session.ts'
import { isPhone, openApp } from '../windows.ts'
import { words } from '../words.ts'
import type { AgendaItem } from './agenda.ts'
import { todayItems } from './today-items.ts'
import './home.css'

/** Most items that are listed. */
const MAX_ITEMS = 6

function greeting(name: string): string {
  const hour = new Date().getHours()
  if (hour >= 5 && hour < 12) return words('good_morning', name)
  return hour >= 12 && hour < 18 ? words('good_day', name) : words('good_evening', name)
}

function timeOf({ slug, at, isOverdue }: AgendaItem): string {
  if (isOverdue) return words('overdue')
  if (at === undefined) return slug === 'tasks' ? words('due_today') : words('all_day')
  return today(new Date(at)) === today() ? formatTime(at) : formatDateTime(at)
}

/** Unread messages, and what is planned for today; each line opens it. */
function Today() {
  const items = todayItems.value
  const unread = unreadMessages.value
  if (items === undefined || items.length + unread === 0) return null
  const hidden = items.length - MAX_ITEMS
  return (
    <ul class="today" aria-label={words('today')}>
      {unread > 0 && (
        <li>
          <button type="button" onClick={() => openApp('chat')}>
            <AppIcon slug="chat" size={24} />
            <span>{words('unread_messages', unread)}</span>
          </button>
        </li>
      )}
      {items.slice(0, MAX_ITEMS).map((item) => (
        <li key={item.key}>
          <button type="button" onClick={() => openApp(item.slug, `/${item.id}`)}>
            <AppIcon slug={item.slug} size={24} />
            <span dir="auto">{item.title || words('untitled')}</span>
            <small class={item.isOverdue ? 'overdue' : ''}>{timeOf(item)}</small>
          </button>
        </li>
      ))}
      {hidden > 0 && (
        <li>
          <button type="button" onClick={() => openApp(items[MAX_ITEMS]!.slug)}>
            {words('more', hidden)}
          </button>
        </li>
      )}
    </ul>
  )
}

/** What the desktop shows while no window is in front: today, and on phones the apps. */
export function Home({ hidden }: { hidden: boolean }) {
  return (
    <div class="home" hidden={hidden}>
      <p class="greeting-name">{greeting(user.value?.display_name ?? '')}</p>
      <p>{formatDay(Date.now())}</p>
      {!hidden && <Today />}
      {isPhone.value && (
        <nav class="launcher-apps" aria-label={words('apps')}>
          {apps.value.map((app) => (
            <LauncherApp key={app.slug} app={app} onOpen={() => openApp(app.slug)} />
          ))}
        </nav>
      )}
    </div>
  )
}
