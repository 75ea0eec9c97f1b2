import { toast } from '../kit/toast.tsx'
import { isUnlocked } from './session.ts'
import { openApp } from './windows.ts'
import { words } from './words.ts'

/** Opens the app named in the URL, `/#open=files&path=/Reports`, and removes it from the URL. */
function openDeepLink(): void {
  const target = new URLSearchParams(location.hash.slice(1))
  const slug = target.get('open')
  if (slug === null || !isUnlocked.peek()) return
  history.replaceState(null, '', location.pathname + location.search)
  if (!openApp(slug, target.get('path') ?? '/')) toast(words('no_apps'))
}

/** Opens what the URL names, now, whenever it changes and after unlocking; the list of apps has to be loaded. */
export function followDeepLinks(): void {
  addEventListener('hashchange', openDeepLink)
  isUnlocked.subscribe(openDeepLink)
}
