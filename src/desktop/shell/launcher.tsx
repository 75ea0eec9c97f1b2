import { Keyboard, Lock, LogOut, Monitor, Moon, Sun, type IconNode } from 'lucide'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useBackLevels } from '../kit/back-levels.ts'
import { SearchField } from '../kit/field.tsx'
import { formatWhen } from '../kit/formats.ts'
import { Icon } from '../kit/icon.tsx'
import type { AnswerOf } from '../wire/actions.ts'
import { AppIcon } from './app-icon.tsx'
import { appName } from './app-name.ts'
import { appBySlug, apps, type App } from './apps.ts'
import { helpOpen, launcherOpen } from './key-bindings.ts'
import { LauncherApp } from './launcher-app.tsx'
import { setPreferences } from './preferences.ts'
import { call, lockDesktop, signOut } from './session.ts'
import { openApp } from './windows.ts'
import { words } from './words.ts'

const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

interface ShellAction {
  label: string
  icon: IconNode
  run: () => void
}

/** Actions of the shell whose name contains a text. */
const searchActions = (searchText: string): ShellAction[] =>
  [
    { label: words('light'), icon: Sun, run: () => setPreferences({ theme: 'light' }) },
    { label: words('dark'), icon: Moon, run: () => setPreferences({ theme: 'dark' }) },
    { label: words('as_system'), icon: Monitor, run: () => setPreferences({ theme: 'system' }) },
    { label: words('keyboard'), icon: Keyboard, run: () => void (helpOpen.value = true) },
    { label: words('lock'), icon: Lock, run: () => void lockDesktop() },
    { label: words('sign_out'), icon: LogOut, run: () => void signOut() },
  ].filter(({ label }) => fold(label).includes(fold(searchText.trim())))

type Answer = AnswerOf<'search.find'>
type Result = Answer['results'][number]

/** The app that shows a result, and the path in it. */
function placeOf({ kind, id, path, room_id }: Result): { slug: string; path: string } {
  switch (kind) {
    case 'file':
    case 'folder':
      return { slug: 'files', path: path ?? '/' }
    case 'message':
      return { slug: 'chat', path: `/${room_id}` }
    case 'event':
      return { slug: 'calendar', path: `/${id}` }
    default:
      return { slug: `${kind}s`, path: `/${id}` }
  }
}

/** Delay from the last input to searching, ms, and the longest text that is sent. */
const SEARCH_DELAY = 120
const MAX_TEXT = 1_000
const MAX_RESULTS = 12

/** What the server finds; the answer to an earlier text is shown until the next one is there. */
function useResults(searchText: string): { answer: Answer | undefined; isFailed: boolean } {
  const [state, setState] = useState<{ answer: Answer | undefined; isFailed: boolean }>({
    answer: undefined,
    isFailed: false,
  })
  const query = searchText.trim().slice(0, MAX_TEXT).toWellFormed()
  useEffect(() => {
    if (query === '') return setState({ answer: undefined, isFailed: false })
    const stop = new AbortController()
    const timer = setTimeout(() => {
      call('search.find', { query, limit: MAX_RESULTS }, { signal: stop.signal }).then(
        (answer) => setState({ answer, isFailed: false }),
        () => stop.signal.aborted || setState({ answer: undefined, isFailed: true }),
      )
    }, SEARCH_DELAY)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [query])
  return state
}

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

/** Lists all apps, with a field that searches them and everything else; Enter opens the first match. */
export function Launcher() {
  const element = useRef<HTMLDialogElement>(null)
  const [searchText, setSearchText] = useState('')
  const close = () => void (launcherOpen.value = false)
  const found = searchApps(searchText)
  const actions = searchText.trim() === '' ? [] : searchActions(searchText)
  const { answer, isFailed } = useResults(searchText)
  const results = (answer?.results ?? []).filter((result) => appBySlug(placeOf(result).slug))
  useBackLevels(1, close)
  useLayoutEffect(() => {
    const focused = document.activeElement
    element.current!.showModal()
    element.current!.querySelector('input')?.focus()
    return () => focused instanceof HTMLElement && focused.focus()
  }, [])

  function start(slug: string, path?: string): void {
    close()
    openApp(slug, path)
  }

  const show = (result: Result): void => {
    const { slug, path } = placeOf(result)
    start(slug, path)
  }

  /** Moves between the apps, which are a grid, and the lines below. */
  function onKeyDown(event: KeyboardEvent): void {
    const tiles = [...element.current!.querySelectorAll<HTMLElement>('.launcher-app')]
    const items = [...tiles, ...element.current!.querySelectorAll<HTMLElement>('.launcher-line')]
    const at = items.indexOf(document.activeElement as HTMLElement)
    const columns = tiles.filter((tile) => tile.offsetTop === tiles[0]?.offsetTop).length
    const isTile = at >= 0 && at < tiles.length
    const targets: Record<string, number> = {
      ArrowDown: at < 0 ? 0 : isTile ? Math.min(at + columns, Math.max(tiles.length, at + 1)) : at + 1,
      ArrowUp: isTile ? at - columns : at - 1,
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
    }
    const to = targets[event.key]
    if (to === undefined || (at < 0 && event.key !== 'ArrowDown')) return
    event.preventDefault()
    if (to < 0) element.current!.querySelector('input')?.focus()
    else items[Math.min(to, items.length - 1)]?.focus()
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
          else if (results[0]) show(results[0])
        }}
      >
        <SearchField label={words('search_everything')} value={searchText} onText={setSearchText} />
      </form>
      <div class="launcher-apps">
        {found.map((app) => (
          <LauncherApp key={app.slug} app={app} onOpen={() => start(app.slug)} />
        ))}
      </div>
      {actions.length + results.length > 0 && (
        <ul class="launcher-lines">
          {actions.map(({ label, icon, run }) => (
            <li key={label}>
              <button
                type="button"
                class="launcher-line"
                onClick={() => {
                  close()
                  run()
                }}
              >
                <Icon of={icon} />
                <span>{label}</span>
              </button>
            </li>
          ))}
          {results.map((result) => (
            <li key={`${result.kind} ${result.id}`}>
              <button type="button" class="launcher-line" onClick={() => show(result)}>
                <AppIcon slug={placeOf(result).slug} size={28} />
                <span>
                  <strong dir="auto">{result.title || words('untitled')}</strong>
                  <small dir="auto">{result.path ?? result.snippet}</small>
                </span>
                <small>{formatWhen(result.time)}</small>
              </button>
            </li>
          ))}
        </ul>
      )}
      <p role="status" class="soft">
        {isFailed
          ? words('search_failed')
          : answer?.complete === false
            ? words('index_building')
            : found.length + actions.length + results.length === 0 && (answer || searchText.trim() === '')
              ? words('none_found')
              : ''}
      </p>
    </dialog>
  )
}
