import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appPackage } from '../support/app-package.ts'
import { startWorld, type DesktopPage, type DesktopWorld } from '../support/desktop.ts'

const ORIGIN = 'https://apps.example'
const OTHER = 'https://other.example'

// What a page says as soon as it is there, before it has loaded.
const page = (title: string) => `<!doctype html><html lang="en"><title>${title}</title><body><h1>${title}</h1><script>
  globalThis.heard = []
  addEventListener('message', ({ source, data }) => source === parent && heard.push(data))
  parent.postMessage({ type: 'svc-ready' }, '*')
  parent.postMessage({ type: 'svc-title', title: ${JSON.stringify(title)} }, '*')
</script><iframe srcdoc="<script>
  const open = { type: 'svc-open-app', slug: 'tasks', path: '/' }
  for (const one of [top, parent.parent, top[0]]) one.postMessage(open, '*')
</script>"></iframe>`

let world: DesktopWorld
beforeAll(async () => {
  world = await startWorld()
  await world.server.set('apps.allowed_origins', [ORIGIN, OTHER])
  await world.server.local.domain.desktop.releases.install(appPackage())
})
afterAll(() => world?.close())

const PLACE = { ip: '127.0.0.1', userAgent: 'test' }

/** A desktop with an app of another origin, open. `asked` is what was asked of other origins. */
async function withElsewhere(): Promise<DesktopPage & { app: Frame; asked: string[] }> {
  const person = await world.person()
  await expect
    .poll(() =>
      world.server.local.domain.desktop.apps
        .createCustom(
          person.id,
          { slug: `far-${person.id}`, name: 'Far away', app_path: `${ORIGIN}/start?x=1#there` },
          PLACE,
        )
        .then(
          () => true,
          () => false,
        ),
    )
    .toBe(true)
  const visited = await world.enter(person)
  const asked: string[] = []
  await visited.context.route(/^https:\/\/[^/]*\.example\//, async (route) => {
    const url = new URL(route.request().url())
    asked.push(url.origin + url.pathname)
    await route.fulfill({ contentType: 'text/html', body: page(`${url.hostname}${url.pathname}`) })
  })
  await visited.page.keyboard.press('Control+k')
  await visited.page.getByRole('searchbox', { name: 'Search everything' }).fill('Far away')
  await visited.page.keyboard.press('Enter')
  await visited.page.getByRole('heading', { name: 'apps.example/start' }).waitFor()
  const frame = visited.page.frames().find((one) => one.url().startsWith(ORIGIN))!
  return { ...visited, app: frame, asked } as never
}

test('an app of an allowed origin is shown, welcomed, and opens another app; only its own window is heard', async () => {
  const { app, page: desktop } = await withElsewhere()
  expect(app.url()).toBe(`${ORIGIN}/start?x=1#there`)
  await expect.poll(() => app.evaluate('heard.map(({ type }) => type)')).toContain('svc-welcome')
  expect(await app.evaluate(`heard.find(({ type }) => type === 'svc-welcome')`)).toMatchObject({
    path: '/',
    theme: 'light',
  })
  // Neither the frame in it, which spoke to everybody, nor one that it shows of this server was heard: messages keep their order.
  await app.evaluate(`parent.postMessage({ type: 'svc-open-app', slug: 'notes', path: '/' }, '*')`)
  await desktop.getByRole('region', { name: 'Notes' }).waitFor()
  expect(await desktop.getByRole('region', { name: 'Tasks' }).count()).toBe(0)
  // It has no origin, as any app.
  await expect(app.evaluate('localStorage.length')).rejects.toThrow()
  await expect(app.evaluate('top.document.title')).rejects.toThrow()
})

test('an app goes to other pages of its own origin and is heard from there, and to no other', async () => {
  const { app, page: desktop, asked } = await withElsewhere()
  await app.evaluate(`void (location.href = '/second')`)
  await desktop.getByRole('heading', { name: 'apps.example/second' }).waitFor()
  const frame = () => desktop.frames().find((one) => one.url().startsWith(`${ORIGIN}/second`))
  await expect.poll(frame).toBeDefined()
  asked.length = 0
  await frame()!.evaluate(`void (location.href = '${OTHER}/')`)
  await expect.poll(() => desktop.frames().some((one) => one.url().startsWith('chrome-error:'))).toBe(true)
  expect(asked).toEqual([])
  expect(await desktop.getByRole('heading', { name: 'other.example' }).count()).toBe(0)
})

test('no other frame takes what it knows to an allowed origin: not by itself, nor in the page around such an app', async () => {
  const { page: desktop, asked } = await withElsewhere()
  await desktop.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Notes' }).click()
  const notes = desktop.frameLocator('iframe[data-app="notes"]')
  await notes.getByText('No notes yet').waitFor()
  const element = (await desktop.locator('iframe[data-app="notes"]').elementHandle())!
  asked.length = 0
  const around = `/sandbox/app.html?origin=${encodeURIComponent(ORIGIN)}`
  await (await element.contentFrame())!.evaluate(`void (location.href = '${around}')`)
  const wrapper = () => desktop.frames().filter((one) => one.url().includes('/sandbox/app.html'))
  await expect.poll(() => wrapper().length).toBe(2)
  const taken = (await element.contentFrame())!
  await taken.waitForLoadState('load')
  await taken.evaluate(`parent.postMessage({ type: 'svc-title', title: 'Still here' }, '*')`)
  await desktop.getByRole('heading', { name: 'Still here' }).waitFor()
  expect(taken.childFrames()).toEqual([])
  await taken.evaluate(`void (location.href = '${ORIGIN}/told')`)
  await expect.poll(async () => (await element.contentFrame())!.url()).toMatch(/^chrome-error:/)
  expect(asked).toEqual([])
})

test('the page around an app frames an allowed origin as it is written, and nothing else', async () => {
  const policy = async (query: string) =>
    (await world.server.send(`/sandbox/app.html${query}`)).headers.get('content-security-policy')
  expect(await policy(`?origin=${ORIGIN}`)).toContain(`; frame-src ${ORIGIN};`)
  for (const query of [
    '',
    '?origin=',
    '?origin=*',
    '?origin=https:',
    `?origin=${ORIGIN}&origin=${OTHER}`,
    `?origin=${ORIGIN}%3B%20script-src%20*`,
    '?origin=https://apps.example.evil.example',
  ])
    expect([query, await policy(query)]).toEqual([query, expect.stringContaining("; frame-src 'none';")])
  expect((await world.server.send('/')).headers.get('content-security-policy')).toContain("frame-src 'self';")
})
