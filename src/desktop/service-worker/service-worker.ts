/**
 * Starts the desktop without a network: the page at `/` then comes from a cache and says that the server cannot be reached. Everything
 * in the cache is public, the same for all users. Nothing of the API and no page of an app is kept.
 */

const worker = globalThis as unknown as ServiceWorkerGlobalScope

const CACHE = 'desktop'
const PAGE = '/'

/** What the page loads at once. Its other assets are kept when they are used. */
const ASSET = /"(\/assets\/[^"]+)"/g

worker.addEventListener('install', (event) => {
  event.waitUntil(
    fetch(PAGE, { cache: 'reload' })
      .then(keepPage)
      .then(() => worker.skipWaiting()),
  )
})

worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()))

worker.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (request.mode === 'navigate' && pathname === PAGE) event.respondWith(pageOf(event))
  else if (pathname.startsWith('/assets/')) event.respondWith(assetOf(event))
})

/** The page of the server, which is always the newest, or the kept one when there is no answer. */
async function pageOf(event: FetchEvent): Promise<Response> {
  try {
    const answer = await fetch(event.request)
    event.waitUntil(keepPage(answer.clone()))
    return answer
  } catch (error) {
    const kept = await (await caches.open(CACHE)).match(PAGE)
    if (!kept) throw error
    return kept
  }
}

/** Keeps a page with its assets, and removes those of the page before. An error page of a proxy is not kept. */
async function keepPage(page: Response): Promise<void> {
  if (page.status !== 200 || page.redirected) return
  const cache = await caches.open(CACHE)
  const text = await page.clone().text()
  const kept = await cache.match(PAGE)
  if (kept && (await kept.text()) === text) return
  const needed = [...text.matchAll(ASSET)].map(([, path]) => path!)
  if (needed.length === 0) return
  await cache.addAll(needed)
  await cache.put(PAGE, page)
  const wanted = new Set(needed)
  const others = (await cache.keys()).filter(({ url }) => {
    const { pathname } = new URL(url)
    return pathname !== PAGE && !wanted.has(pathname)
  })
  await Promise.all(others.map((request) => cache.delete(request)))
}

/** Names of assets contain a hash of their content, so a kept one is the right one. */
async function assetOf(event: FetchEvent): Promise<Response> {
  const cache = await caches.open(CACHE)
  const kept = await cache.match(event.request)
  if (kept) return kept
  const answer = await fetch(event.request)
  // A full disk is no reason to fail.
  if (answer.status === 200) event.waitUntil(cache.put(event.request, answer.clone()).catch(() => undefined))
  return answer
}
