const ADDRESS = '/service-worker.js'

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(url: string): string }
}

/** Lets the browser install the desktop as an app, and start it without a network. Works over HTTPS and on this machine. */
export async function registerServiceWorker(): Promise<void> {
  if (!('serviceWorker' in navigator) || location.search.includes('safe')) return
  // The policy of the page permits this one script, and no other policy that would make addresses of scripts.
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const policy = trustedTypes?.createPolicy('service-worker', { createScriptURL: () => ADDRESS })
  // Browsers that refuse storage refuse this, too; then there is only no start without a network.
  await navigator.serviceWorker.register(policy?.createScriptURL(ADDRESS) ?? ADDRESS).catch(() => undefined)
}
