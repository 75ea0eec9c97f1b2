import { toast } from '../kit/toast.tsx'
import { isUnlocked } from './session.ts'
import { openApp } from './windows.ts'
import { words } from './words.ts'

/** What the URL named last, until it can be opened. */
let requested: { slug: string; path: string } | undefined

function openRequested(): void {
  if (!requested || !isUnlocked.peek()) return
  const { slug, path } = requested
  requested = undefined
  if (!openApp(slug, path)) toast(words('no_apps'))
}

/** Takes the app named in the URL, `/#open=files&path=/Reports`, out of it: Back must not open it again. */
function takeDeepLink(): void {
  const target = new URLSearchParams(location.hash.slice(1))
  const slug = target.get('open')
  if (slug === null) return
  history.replaceState(null, '', location.pathname + location.search)
  requested = { slug, path: target.get('path') ?? '/' }
  openRequested()
}

/** Opens what the URL names, now and whenever it changes, at the latest after unlocking; the list of apps has to be loaded. */
export function followDeepLinks(): void {
  addEventListener('hashchange', takeDeepLink)
  takeDeepLink()
  isUnlocked.subscribe(openRequested)
}
