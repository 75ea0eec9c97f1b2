import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

test('an app opened during an outage says so, leaves the keys to the desktop and loads when the server is back', async () => {
  const { page, app } = await world.enter(await world.person())
  await page.route('**/*', (route) => route.abort())
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search everything' }).fill('Tasks')
  await page.keyboard.press('Enter')
  const window = page.getByRole('region', { name: 'Tasks' })
  await window.getByText('The app cannot be loaded at the moment').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search everything' }).waitFor()
  await page.keyboard.press('Escape')

  await page.unroute('**/*')
  await window.getByText('The app cannot be loaded at the moment').waitFor({ state: 'detached' })
  const tasks = await app('tasks')
  await tasks.getByRole('textbox', { name: 'Add a task' }).waitFor()
})

test('a desktop opened during an outage starts when the server is back, and at once when the browser has a network again', async () => {
  const { page, context } = await world.enter(await world.person())
  const hasDock = () => page.getByRole('navigation', { name: 'Dock' }).waitFor()
  const openInOutage = async () => {
    await context.route('**/api/**', (route) => route.abort())
    await page.reload()
    await page.getByRole('heading', { name: 'No connection' }).waitFor()
    await context.unroute('**/api/**')
  }
  await openInOutage()
  await hasDock()

  // Without the timers of its retries.
  await page.addInitScript(`{
    const start = setTimeout
    self.setTimeout = (run, ms, ...values) => (ms >= 500 ? 0 : start(run, ms, ...values))
  }`)
  await openInOutage()
  await page.evaluate("dispatchEvent(new Event('online'))")
  await hasDock()
})

test('an app whose page answers late is not loaded again while it works', async () => {
  const { page, app, login } = await world.visit()
  await page.clock.install()
  // No frame waits for an app, and the first page of this one does not answer until it is told to.
  await page.route('**/apps/_/index.html', (route) => route.abort())
  let requests = 0
  await page.route(/\/assets\/tasks-[\w-]+\.js/, async (route) => {
    const response = await route.fetch()
    const wait = 'await new Promise((resolve) => (globalThis.answer = resolve))\n'
    const body = `${++requests === 1 ? wait : ''}${await response.text()}`
    await route.fulfill({ response, body })
  })
  await login((await world.person()).username)
  await page.getByRole('navigation', { name: /dock/i }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search everything' }).fill('Tasks')
  await page.keyboard.press('Enter')
  const isLate = page.getByRole('region', { name: 'Tasks' }).getByText('The app cannot be loaded at the moment')
  await isLate.waitFor()
  const late = page.frames().find((frame) => frame.url().includes('/apps/tasks/'))!
  // On a slow machine the page may be replaced by now.
  await late.evaluate('answer()').catch(() => undefined)
  await isLate.waitFor({ state: 'detached' })

  const input = (await app('tasks')).getByRole('textbox', { name: 'Add a task' })
  await input.fill('half typed')
  await page.clock.fastForward(60_000)
  expect(await input.inputValue()).toBe('half typed')
}, 60_000)

test('the banner of an outage goes within seconds after the server is back', async () => {
  const { page } = await world.enter(await world.person())
  let attempts = 0
  const isDelta = (url: URL) => url.searchParams.get('action') === 'delta'
  await page.route(isDelta, (route) => {
    attempts += 1
    return route.abort()
  })
  await page.reload()
  const banner = page.getByText('The server cannot be reached. Trying again')
  await banner.waitFor()
  // By then the delays have grown as long as they get.
  await expect.poll(() => attempts, { timeout: 90_000 }).toBeGreaterThan(5)
  await page.unroute(isDelta)
  // The longest delay is 4 seconds; delays that went on growing would be at 15 to 30 by now.
  await banner.waitFor({ state: 'detached', timeout: 14_000 })
})
