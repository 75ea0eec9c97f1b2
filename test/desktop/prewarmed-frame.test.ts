import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appPackage } from '../support/app-package.ts'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => {
  world = await startWorld()
  const page =
    '<!doctype html><html lang="en"><title>Clock</title><h1>Clock</h1><main id="root"><p>It is late.</p></main></html>'
  await world.server.local.domain.desktop.releases.install(appPackage({ 'index.html': page }))
})
afterAll(() => world?.close())

const spare = (page: Page) => page.locator('iframe[data-app=""]')

/** Waits until the page of the spare window waits for an app. */
async function whenReady(page: Page): Promise<void> {
  await spare(page).waitFor({ state: 'attached' })
  const frame = (await (await spare(page).elementHandle())!.contentFrame())!
  await frame.waitForLoadState('load')
}

test('a page that is loaded in advance turns into the app that is opened, and another takes its place', async () => {
  const visited = await world.enter(await world.person())
  const { page } = visited
  await whenReady(page)
  const element = (await spare(page).elementHandle())!
  const before = (await element.contentFrame())!
  const pages: string[] = []
  page.on('framenavigated', (frame) => pages.push(frame.url()))
  const notes = await visited.open('notes', 'Notes')
  await notes.getByText('No notes yet').waitFor()
  expect(notes).toBe(before)
  expect(await notes.title()).toBe('notes')
  expect(pages.filter((url) => url.includes('/apps/notes/'))).toEqual([])

  // An app of somebody else gets a frame of its own, and does not move the one that waits.
  await whenReady(page)
  const next = (await (await spare(page).elementHandle())!.contentFrame())!
  const clock = await visited.open('clock', 'Clock')
  await clock.getByText('It is late.').waitFor()
  expect(new URL(clock.url()).pathname).toBe('/apps/clock/index.html')
  await page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Tasks' }).click()
  const tasks = await visited.app('tasks')
  await tasks.getByLabel('Add a task').waitFor()
  expect(tasks).toBe(next)
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('a page that has become an app becomes no other', async () => {
  const visited = await world.enter(await world.person())
  await whenReady(visited.page)
  const notes = await visited.open('notes', 'Notes')
  await notes.getByText('No notes yet').waitFor()
  // A second greeting brings no second port.
  await notes.evaluate(`
    globalThis.handed = 0
    addEventListener('message', ({ ports }) => (handed += ports.length))
    parent.postMessage({ type: 'svc-ready' }, '*')
    parent.postMessage({ type: 'svc-open-app', slug: 'notes', path: '/7' }, '*')
    new Promise((resolve) => addEventListener('message', ({ data }) => data.type === 'svc-path' && resolve()))
  `)
  expect(await notes.evaluate('handed')).toBe(0)
})

test('where the app cannot be loaded into it, its own page is', async () => {
  const visited = await world.enter(await world.person())
  const { page } = visited
  await whenReady(page)
  // As after an update of the server: parts that the page of the older build names are gone.
  await page.route('**/assets/notes-*.js', (route) =>
    route.request().frame().url().includes('/apps/_/') ? route.fulfill({ status: 404 }) : route.continue(),
  )
  await visited.page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Notes' }).click()
  const notes = page.frameLocator('iframe[data-app="notes"][src^="/apps/notes/"]')
  await notes.getByText('No notes yet').waitFor()
})
