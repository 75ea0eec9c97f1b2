import { LayoutGrid } from 'lucide'
import { useRef } from 'preact/hooks'
import { Icon } from '../kit/icon.tsx'
import { AppIcon } from './app-icon.tsx'
import { appName } from './app-name.ts'
import { apps, appsLoaded } from './apps.ts'
import { unreadMessages } from './chat-notifications.ts'
import { dockLayouts } from './components/components.ts'
import { launcherOpen } from './key-bindings.ts'
import { front, isPhone, minimise, openApp, raise, windows } from './windows.ts'
import { words } from './words.ts'

/** Apps in the dock that are not open. */
const MAX_PINNED = 9
const MAX_ON_PHONE = 4

/** Opens an app, or raises or minimises its window. */
function toggle(slug: string): void {
  const open = windows.value.filter((one) => one.slug === slug)
  const last = open.toSorted((a, b) => a.depth - b.depth).at(-1)
  if (!last) openApp(slug)
  else if (front.value?.id === last.id) minimise(last.id)
  else raise(last.id)
}

function pinnedApps(): string[] {
  const layouts = [...dockLayouts.value.values()]
  const hidden = new Set(layouts.flatMap((layout) => layout.hidden))
  const order = layouts.flatMap((layout) => layout.order)
  const all = apps.value.map(({ slug }) => slug).filter((slug) => !hidden.has(slug))
  return [...new Set([...order.filter((slug) => all.includes(slug)), ...all])]
}

const labelOf = (slug: string): string =>
  [...dockLayouts.value.values()].findLast(({ labels }) => labels.get(slug))?.labels.get(slug) ?? appName(slug)

/** The dock; arrow keys move between its apps. */
export function Dock() {
  const list = useRef<HTMLElement>(null)
  const running = [...new Set(windows.value.map(({ slug }) => slug))]
  const pinned = pinnedApps().slice(0, isPhone.value ? MAX_ON_PHONE : MAX_PINNED)
  // On a phone the dock stays as it is: the other apps are on the home screen.
  const shown = isPhone.value ? pinned : [...pinned, ...running.filter((slug) => !pinned.includes(slug))]

  function onKeyDown(event: KeyboardEvent): void {
    const buttons = [...list.current!.querySelectorAll('button')]
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    buttons[(at + step + buttons.length) % buttons.length]?.focus()
  }

  // Wait for all apps, so that the width does not change.
  if (!appsLoaded.value) return null
  return (
    <nav ref={list} class="dock" aria-label={words('dock')} onKeyDown={onKeyDown}>
      <button
        type="button"
        aria-label={words('launcher')}
        aria-haspopup="dialog"
        aria-expanded={launcherOpen.value}
        onClick={() => void (launcherOpen.value = true)}
      >
        <span class="tile tile-launcher">
          <Icon of={LayoutGrid} size={24} />
        </span>
        <span class="tip" aria-hidden="true">
          {words('launcher')}
        </span>
      </button>
      <span class="dock-line" aria-hidden="true" />
      {shown.map((slug) => {
        const name = labelOf(slug)
        const isRunning = running.includes(slug)
        const unread = slug === 'chat' ? unreadMessages.value : 0
        const label = isRunning ? words('running', name) : name
        return (
          <button
            key={slug}
            type="button"
            class={isRunning ? 'running' : ''}
            aria-label={unread > 0 ? words('unread', label, unread) : label}
            aria-current={front.value?.slug === slug}
            onClick={() => toggle(slug)}
          >
            <AppIcon slug={slug} size={44} />
            {unread > 0 && (
              <span class="badge" aria-hidden="true">
                {unread}
              </span>
            )}
            <span class="tip" aria-hidden="true">
              {name}
            </span>
          </button>
        )
      })}
    </nav>
  )
}
