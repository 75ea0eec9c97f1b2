import { LayoutGrid } from 'lucide'
import { useRef } from 'preact/hooks'
import { Icon } from '../kit/icon.tsx'
import { AppIcon } from './app-icon.tsx'
import { appName } from './app-name.ts'
import { apps, areAppsKnown } from './apps.ts'
import { dockWishes } from './components/components.ts'
import { launcherOpen } from './keys.ts'
import { front, isPhone, minimise, openApp, raise, windows } from './windows.ts'
import { words } from './words.ts'

/** Apps that are in the dock without being open. */
const MOST_PINNED = 9
const MOST_ON_PHONE = 4

/** Opens an app, brings its window to the front, or takes it away when it is there. */
function toggle(slug: string): void {
  const open = windows.value.filter((one) => one.slug === slug)
  const last = open.toSorted((a, b) => a.depth - b.depth).at(-1)
  if (!last) openApp(slug)
  else if (front.value?.id === last.id) minimise(last.id)
  else raise(last.id)
}

/** What is pinned, as hooks of the user's own would like it: what they put first, without what they leave out. */
function pinnedApps(): string[] {
  const wishes = [...dockWishes.value.values()]
  const hidden = new Set(wishes.flatMap((wish) => wish.hidden))
  const order = wishes.flatMap((wish) => wish.order)
  const all = apps.value.map(({ slug }) => slug).filter((slug) => !hidden.has(slug))
  return [...new Set([...order.filter((slug) => all.includes(slug)), ...all])]
}

const labelOf = (slug: string): string =>
  [...dockWishes.value.values()].findLast(({ labels }) => labels.get(slug))?.labels.get(slug) ?? appName(slug)

/** The row of apps at the lower edge; arrow keys go from one to the next. */
export function Dock() {
  const list = useRef<HTMLElement>(null)
  const running = [...new Set(windows.value.map(({ slug }) => slug))]
  const pinned = pinnedApps().slice(0, isPhone.value ? MOST_ON_PHONE : MOST_PINNED)
  const shown = isPhone.value
    ? [...new Set([...running.slice(-MOST_ON_PHONE), ...pinned])].slice(0, MOST_ON_PHONE)
    : [...pinned, ...running.filter((slug) => !pinned.includes(slug))]

  function onKeyDown(event: KeyboardEvent): void {
    const buttons = [...list.current!.querySelectorAll('button')]
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    buttons[(at + step + buttons.length) % buttons.length]?.focus()
  }

  // It comes at once in its whole width.
  if (!areAppsKnown.value) return null
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
        return (
          <button
            key={slug}
            type="button"
            class={isRunning ? 'running' : ''}
            aria-label={isRunning ? words('running', name) : name}
            aria-current={front.value?.slug === slug}
            onClick={() => toggle(slug)}
          >
            <AppIcon slug={slug} size={44} />
            <span class="tip" aria-hidden="true">
              {name}
            </span>
          </button>
        )
      })}
    </nav>
  )
}
