import { afterAll, beforeAll, expect, test } from 'vitest'
import { appPackage } from '../support/app-package.ts'
import { startWorld, type DesktopPage, type DesktopWorld } from '../support/desktop.ts'

const PAGE = `<!doctype html><html lang="en"><title>Clock</title><h1>Clock</h1><main id="root"><p>It is late.</p></main>
<script type="module" src="clock.js"></script></html>`

const SCRIPT = `
globalThis.heard = []
addEventListener('message', ({ data, ports }) => heard.push({ ...data, ports: ports.length }))
parent.postMessage({ type: 'svc-ready' }, '*')
`

let world: DesktopWorld
beforeAll(async () => {
  world = await startWorld()
  await world.server.local.domain.desktop.releases.install(appPackage({ 'index.html': PAGE, 'clock.js': SCRIPT }))
})
afterAll(() => world?.close())

async function withClock(): Promise<
  DesktopPage & { say: (message: string) => Promise<unknown>; heard: (type: string) => Promise<object> }
> {
  const visited = await world.enter(await world.person())
  const frame = await visited.open('clock', 'Clock')
  return {
    ...visited,
    say: (message) => frame.evaluate(`parent.postMessage(${message}, '*')`),
    heard: async (type) => {
      const find = () => frame.evaluate(`heard.find((message) => message.type === '${type}')`)
      await expect.poll(find).toBeDefined()
      return (await find()) as object
    },
  }
}

test('an app hears how the desktop looks, and nothing about who is there', async () => {
  const { heard } = await withClock()
  expect(await heard('svc-welcome')).toEqual({
    type: 'svc-welcome',
    slug: 'clock',
    path: '/',
    theme: 'light',
    language: 'en',
    online: true,
    ports: 0,
  })
})

test('an app gives its window a title, notifies, and opens another app', async () => {
  const { say, page } = await withClock()
  await say(`{ type: 'svc-title', title: '<b>Half past</b>' }`)
  await page.getByRole('heading', { name: '<b>Half past</b>' }).waitFor()
  await say(`{ type: 'svc-notify', title: 'Time', text: '<i>is up</i>' }`)
  await page.getByRole('button', { name: 'Notifications (1)' }).click()
  await page.getByRole('dialog').getByText('<i>is up</i>').waitFor()
  await page.keyboard.press('Escape')
  await say(`{ type: 'svc-open-app', slug: 'notes', path: '/../../etc' }`)
  await page.getByRole('region', { name: 'Notes' }).waitFor()
  await say(`{ type: 'svc-close' }`)
  await page.getByRole('region', { name: '<b>Half past</b>' }).waitFor({ state: 'detached' })
})

test('what an app says is shown with its name, whatever the app is called and says', async () => {
  const names = { plain: 'Settings', hebrew: 'הגדרות', long: 'Very '.repeat(15).trim(), markup: '<b>svc</b>' }
  for (const [slug, name] of Object.entries(names)) {
    const files = { 'index.html': PAGE, 'clock.js': SCRIPT }
    await world.server.local.domain.desktop.releases.install(appPackage(files, { slug, name }))
  }
  const { page, app } = await world.enter(await world.person())
  const title = '\u202EYour session ended\n\n'
  const text = `<b>svc</b> ${'sign in at http://evil.example '.repeat(40)}`
  for (const [slug, name] of Object.entries(names)) {
    await page.evaluate(`location.hash = 'open=${slug}'`)
    const frame = await app(slug)
    await frame.getByText('It is late.').waitFor()
    await frame.evaluate(`parent.postMessage(${JSON.stringify({ type: 'svc-notify', title, text })}, '*')`)
    const toast = page.locator('.toast', { has: page.getByText(`App “${name}”`, { exact: true }) })
    await toast.waitFor()
    const [source, whole] = [await toast.locator('.source').boundingBox(), await toast.boundingBox()]
    expect(source!.x).toBeGreaterThan(whole!.x)
    expect(source!.y).toBeGreaterThan(whole!.y)
    expect(source!.x + source!.width).toBeLessThanOrEqual(whole!.x + whole!.width)
    expect(source!.height).toBeGreaterThan(10)
    expect(whole!.height).toBeLessThan(200)
  }
  expect(await page.locator('.toast b').count()).toBe(0)
  await page.getByRole('button', { name: 'Notifications (4)' }).click()
  const sources = page.getByRole('dialog').locator('li .source')
  expect(await sources.allTextContents()).toEqual(
    Object.values(names)
      .map((name) => `App “${name}”`)
      .reverse(),
  )
})

test('an app that speaks as one of the package is not listened to', async () => {
  const visited = await withClock()
  const asked: string[] = []
  visited.page.on('request', (request) => asked.push(request.url()))
  await visited.say(`{ type: 'call', id: 1, action: 'rows.list', params: {} }`)
  await visited.say(`{ type: 'set-preferences', preferences: { theme: 'dark' } }`)
  await visited.say(`{ type: 'sign-out' }`)
  await visited.say(`{ type: 'svc-title', title: 'still here' }`)
  await visited.page.getByRole('heading', { name: 'still here' }).waitFor()
  expect(asked.filter((url) => url.includes('/api/') && !url.includes('action=delta'))).toEqual([])
  expect(await visited.page.locator('html').getAttribute('data-theme')).toBe('light')
})

test('an app reaches neither cookie nor storage nor the page around it', async () => {
  const visited = await withClock()
  const frame = await visited.app('clock')
  const tries = [
    'document.cookie',
    'localStorage.length',
    'parent.document.title',
    'top.location.href',
    'indexedDB.open("x")',
  ]
  for (const attempt of tries) {
    await expect(frame.evaluate(attempt), attempt).rejects.toThrow()
  }
  expect(await frame.evaluate(`fetch('/api/session.php').then(() => 'answered', () => 'refused')`)).toBe('refused')
})

test('an app downloads nothing, whether it was clicked or not', async () => {
  const { page, app } = await withClock()
  const frame = await app('clock')
  const downloads: string[] = []
  page.on('download', (download) => downloads.push(download.suggestedFilename()))
  await frame.evaluate(`document.body.insertAdjacentHTML('beforeend',
    '<a download="evil.exe" href="data:application/octet-stream,x">Save</a><a download="evil.exe" href="/apps/clock/clock.js">Code</a>')`)
  await frame.evaluate(`document.querySelector('a').click()`)
  for (const name of ['Save', 'Code']) await frame.getByRole('link', { name }).click()
  // Downloads keep their order: a refused one does not come after one that the desktop itself begins.
  const own = page.waitForEvent('download')
  await page.evaluate(`Object.assign(document.createElement('a'), { href: '/healthz', download: 'own' }).click()`)
  await own
  expect(downloads).toEqual(['own.json'])
})

test('an app that floods the desktop is stopped and can be loaded anew', async () => {
  const { page, say } = await withClock()
  await say(`{}`)
  await (await page.locator('iframe[data-app="clock"]').elementHandle())!
    .contentFrame()
    .then((frame) =>
      frame!.evaluate(`for (let i = 0; i < 5000; i++) parent.postMessage({ type: 'svc-notify', title: 'x' + i }, '*')`),
    )
  await page.getByText('This app was stopped').waitFor()
  expect(await page.locator('iframe[data-app="clock"]').count()).toBe(0)
  expect(await page.locator('.toast').count()).toBeLessThanOrEqual(4)
  await page.getByRole('region', { name: 'Clock' }).getByRole('button', { name: 'Reload' }).click()
  await page.locator('iframe[data-app="clock"]').waitFor()
})

test('a page that takes the place of one of the package gets nothing of its rights', async () => {
  const visited = await world.enter(await world.person())
  const { page } = visited
  const frame = await visited.open('notes', 'Notes')
  await frame.getByText('No notes yet').waitFor()
  await frame.evaluate(`location.href = '/apps/clock/index.html'`)
  const framed = () => page.frames().find((one) => one.url().includes('/apps/clock/'))
  await expect.poll(framed).toBeDefined()
  const clock = framed()!
  await expect.poll(() => clock.evaluate('globalThis.heard?.length')).toBeDefined()
  await clock.evaluate(`parent.postMessage({ type: 'svc-ready' }, '*')`)
  // Messages keep their order: what would have answered the first is there when the second has been.
  await clock.evaluate(`parent.postMessage({ type: 'svc-title', title: 'Taken over' }, '*')`)
  await page.getByRole('heading', { name: 'Taken over' }).waitFor()
  expect(await clock.evaluate('heard.filter(({ ports }) => ports > 0).length')).toBe(0)
})
