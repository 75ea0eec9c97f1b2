import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

/** Waits until the page is controlled, so that its next start can do without the network. */
const installed = ({ page }: DesktopPage) =>
  page.evaluate('navigator.serviceWorker.ready.then((registration) => registration.active.state)')

/** A proxy before the server for one test; a broken one answers with an error page of its own. */
async function gatewayOfTest(to: string) {
  const gateway = { url: '', isBroken: false }
  const proxy = createServer((incoming, outgoing) => {
    if (gateway.isBroken) return void outgoing.writeHead(502, { 'content-type': 'text/html' }).end('Bad gateway')
    const { method, headers, url } = incoming
    const forwarded = request(new URL(url!, to), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(async () => {
    proxy.close()
    proxy.closeAllConnections()
    await once(proxy, 'close')
  })
  gateway.url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return gateway
}

const withWorker = { serviceWorkers: 'allow' } as const

test('Chromium can install the desktop as an app, with icons and shortcuts', async () => {
  const visited = await world.visit(withWorker)
  const session = await visited.page.context().newCDPSession(visited.page)
  await installed(visited)
  await visited.page.reload()
  const { errors, data } = (await session.send('Page.getAppManifest')) as { errors: unknown[]; data?: string }
  expect(errors).toEqual([])
  const manifest = JSON.parse(data!) as { icons: { src: string; sizes: string }[]; shortcuts: { url: string }[] }
  for (const { src, sizes } of manifest.icons) {
    const size = await visited.page.evaluate(
      `new Promise((done, fail) => {
        const image = new Image()
        image.onload = () => done(image.naturalWidth + 'x' + image.naturalHeight)
        image.onerror = fail
        image.src = ${JSON.stringify(src)}
      })`,
    )
    expect(size).toBe(sizes)
  }
  const { installabilityErrors } = (await session.send('Page.getInstallabilityErrors')) as {
    installabilityErrors: { errorId: string }[]
  }
  // A private window installs nothing, and contexts of tests are private.
  expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([])
  expectQuiet(visited)
})

test('without a network the desktop starts, says that the server cannot be reached, and goes on when it is back', async () => {
  const person = await world.person()
  const visited = await world.enter(person, withWorker)
  await installed(visited)
  const { page, context } = visited
  await context.setOffline(true)
  await page.reload()
  await page
    .getByText(/server cannot be reached/i)
    .first()
    .waitFor()
  expect(await visited.flaws()).toEqual([])
  await context.setOffline(false)
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
})

test('only public files are kept: nothing that a user has, and no page of an app', async () => {
  const person = await world.person()
  const visited = await world.enter(person, withWorker)
  await installed(visited)
  await visited.page.reload()
  await visited.page.getByRole('navigation', { name: 'Dock' }).waitFor()
  await visited.open('notes', 'Notes')
  const kept = await pathsOfCache(visited)
  expect(kept).toContain('/')
  expect(kept.filter((path) => path !== '/' && !path.startsWith('/assets/'))).toEqual([])
})

const pathsOfCache = ({ page }: DesktopPage) =>
  page.evaluate<string[]>(
    `caches.open('desktop').then((cache) => cache.keys()).then((all) => all.map(({ url }) => new URL(url).pathname))`,
  )

test('the page of a new version replaces the kept one, with its assets', async () => {
  const visited = await world.visit(withWorker)
  await installed(visited)
  await visited.page.evaluate(`(async () => {
    const cache = await caches.open('desktop')
    await cache.put('/', new Response('<!doctype html><script src="/assets/old.js"></script>'))
    await cache.put('/assets/old.js', new Response('old'))
  })()`)
  await visited.page.reload()
  await visited.page.getByRole('textbox', { name: 'Password' }).waitFor()
  await expect.poll(() => pathsOfCache(visited)).not.toContain('/assets/old.js')
})

test('the error page of a proxy is shown and not kept', async () => {
  const gateway = await gatewayOfTest(world.server.url)
  const visited = await world.visit({ ...withWorker, baseURL: gateway.url })
  await installed(visited)
  gateway.isBroken = true
  await visited.page.reload()
  await visited.page.getByText('Bad gateway').waitFor()
  await visited.page.context().setOffline(true)
  await visited.page.reload()
  await visited.page
    .getByText(/server cannot be reached/i)
    .first()
    .waitFor()
})

test('a browser that refuses storage shows the desktop all the same', async () => {
  const visited = await world.visit(withWorker)
  await visited.page.context().addInitScript(`
    navigator.serviceWorker.register = () => Promise.reject(new DOMException('refused', 'SecurityError'))
  `)
  await visited.page.reload()
  await visited.page.getByRole('textbox', { name: 'Password' }).waitFor()
  expectQuiet(visited)
})
