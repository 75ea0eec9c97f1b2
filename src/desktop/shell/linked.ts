import { toast } from '../kit/toast.tsx'
import { isOpen } from './session.ts'
import { openApp } from './windows.ts'
import { words } from './words.ts'

/** Opens what the address of the page names, `/#open=files&path=/Reports`, and takes it out of the address. */
export function openLinked(): void {
  const asked = new URLSearchParams(location.hash.slice(1))
  const slug = asked.get('open')
  if (slug === null) return
  history.replaceState(null, '', location.pathname + location.search)
  if (!openApp(slug, asked.get('path') ?? '/')) toast(words('no_apps'))
}

addEventListener('hashchange', () => isOpen.value && openLinked())
