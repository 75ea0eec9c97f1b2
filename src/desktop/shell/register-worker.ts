import { scriptAddress } from './worker-scripts.ts'

/** Lets the browser install the desktop as an app, and start it without a network. Works over HTTPS and on this machine. */
export async function registerServiceWorker(): Promise<void> {
  if (!('serviceWorker' in navigator) || location.search.includes('safe')) return
  // Browsers that refuse storage refuse this, too; then there is only no start without a network.
  await navigator.serviceWorker.register(scriptAddress('service')).catch(() => undefined)
}
