import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useBackLevels } from '../kit/back-levels.ts'
import { SearchField } from '../kit/field.tsx'
import { AppIcon } from './app-icon.tsx'
import { appName } from './app-name.ts'
import { apps, type App } from './apps.ts'
import { launcherOpen } from './key-bindings.ts'
import { openApp } from './windows.ts'
import { words } from './words.ts'

const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Apps that match a text: by the start of the name, then within the name, then in the description. */
function searchApps(searchText: string): readonly App[] {
  const text = fold(searchText.trim())
  const rank = ({ slug, description }: App): number => {
    const name = fold(appName(slug))
    if (name.startsWith(text)) return 0
    if (`${name} ${slug}`.includes(text)) return 1
    return fold(description).includes(text) ? 2 : 3
  }
  return [0, 1, 2].flatMap((wanted) => apps.value.filter((app) => rank(app) === wanted))
}

/** Lists all apps, with a search field; Enter opens the first match. */
export function Launcher() {
  const element = useRef<HTMLDialogElement>(null)
  const [searchText, setSearchText] = useState('')
  const close = () => void (launcherOpen.value = false)
  const found = searchApps(searchText)
  useBackLevels(1, close)
  useLayoutEffect(() => {
    const focused = document.activeElement
    element.current!.showModal()
    element.current!.querySelector('input')?.focus()
    return () => focused instanceof HTMLElement && focused.focus()
  }, [])

  function start(slug: string): void {
    close()
    openApp(slug)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const tiles = [...element.current!.querySelectorAll<HTMLElement>('.launcher-app')]
    const at = tiles.indexOf(document.activeElement as HTMLElement)
    const columns = tiles.filter((tile) => tile.offsetTop === tiles[0]?.offsetTop).length
    const steps: Record<string, number> = {
      ArrowDown: at < 0 ? 1 : columns,
      ArrowUp: -columns,
      ArrowRight: 1,
      ArrowLeft: -1,
    }
    const step = steps[event.key]
    if (step === undefined || (at < 0 && event.key !== 'ArrowDown')) return
    event.preventDefault()
    const to = at < 0 ? 0 : at + step
    if (to < 0) element.current!.querySelector('input')?.focus()
    else tiles[Math.min(to, tiles.length - 1)]?.focus()
  }

  return (
    <dialog
      ref={element}
      class="launcher"
      aria-label={words('launcher')}
      onCancel={close}
      onKeyDown={onKeyDown}
      onClick={(event) => event.target === element.current && close()}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (found[0]) start(found[0].slug)
        }}
      >
        <SearchField label={words('search_apps')} value={searchText} onText={setSearchText} />
      </form>
      <div class="launcher-apps">
        {found.map(({ slug, description }) => (
          <button key={slug} type="button" class="launcher-app" title={description} onClick={() => start(slug)}>
            <AppIcon slug={slug} size={60} />
            <span>{appName(slug)}</span>
          </button>
        ))}
      </div>
      {found.length === 0 && <p role="status">{words('no_apps')}</p>}
    </dialog>
  )
}
