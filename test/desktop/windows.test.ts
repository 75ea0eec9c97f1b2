import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const boxOf = async (window: Locator) => (await window.boundingBox())!

/** A desktop with the window of Notes. */
async function withNotes(options = {}): Promise<DesktopPage & { window: Locator; bar: Locator }> {
  const visited = await world.enter(await world.person(), options)
  await visited.open('notes', 'Notes')
  const window = visited.page.getByRole('region', { name: 'Notes' })
  return { ...visited, window, bar: window.locator('.window-bar') }
}

async function dragBy(visited: DesktopPage, from: { x: number; y: number }, dx: number, dy: number): Promise<void> {
  const { mouse } = visited.page
  await mouse.move(from.x, from.y)
  await mouse.down()
  await mouse.move(from.x + dx / 2, from.y + dy / 2, { steps: 3 })
  await mouse.move(from.x + dx, from.y + dy, { steps: 3 })
  await mouse.up()
}

test('the mouse moves, resizes, snaps, maximises and closes a window', async () => {
  const visited = await withNotes()
  const { window, bar, page } = visited
  const before = await boxOf(window)
  const grip = { x: before.x + 200, y: before.y + 20 }
  await dragBy(visited, grip, 60, 40)
  await expect.poll(() => boxOf(window)).toMatchObject({ x: before.x + 60, y: before.y + 40, width: before.width })
  const moved = await boxOf(window)

  await dragBy(visited, { x: moved.x + moved.width - 1, y: moved.y + moved.height - 1 }, -100, -80)
  await expect
    .poll(() => boxOf(window))
    .toMatchObject({ x: moved.x, width: moved.width - 100, height: moved.height - 80 })

  await dragBy(visited, { x: moved.x + 200, y: moved.y + 20 }, -moved.x - 198, 200)
  await expect.poll(() => boxOf(window)).toMatchObject({ x: 6, width: 631 })

  await bar.dblclick({ position: { x: 200, y: 20 } })
  await expect.poll(() => boxOf(window)).toMatchObject({ x: 0, width: 1280 })
  await window.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(() => boxOf(window)).toMatchObject({ width: moved.width - 100 })

  await window.getByRole('button', { name: 'Minimise' }).click()
  await window.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Notes, open' }).click()
  await window.waitFor()
  await window.getByRole('button', { name: 'Close' }).click()
  await window.waitFor({ state: 'detached' })
  expectQuiet(visited)
})

test('keys do the same, also when the focus is inside of the app', async () => {
  const visited = await withNotes()
  const { window, page } = visited
  const notes = await visited.app('notes')
  await notes.getByRole('searchbox').focus()
  await page.keyboard.press('Control+Alt+ArrowRight')
  await expect.poll(async () => (await boxOf(window)).x).toBeGreaterThan(630)
  await page.keyboard.press('Control+Alt+ArrowUp')
  await expect.poll(async () => (await boxOf(window)).width).toBe(1280)
  await page.keyboard.press('Control+Alt+ArrowDown')
  await expect.poll(async () => (await boxOf(window)).x).toBe(92)
  const before = await boxOf(window)

  await window.getByRole('button', { name: 'Window' }).click()
  await page.keyboard.press('m')
  await page.keyboard.press('Enter')
  await page.getByText('Move the window with the arrow keys').waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => boxOf(window)).toMatchObject({ x: before.x - 24, y: before.y + 24 })
  await notes.getByRole('searchbox').focus()
  await page.keyboard.press('F6')
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('All apps')
  await page.keyboard.press('Control+Alt+w')
  await window.waitFor({ state: 'detached' })
})

test('windows are where they were after a reload', async () => {
  const visited = await withNotes()
  const { window, page } = visited
  const { x, y, width } = await boxOf(window)
  await dragBy(visited, { x: x + 200, y: y + 20 }, 30, 50)
  await expect.poll(() => page.evaluate('JSON.stringify(localStorage)')).toContain(`${x + 30}`)
  await page.reload()
  await window.waitFor()
  expect(await boxOf(window)).toMatchObject({ x: x + 30, y: y + 50, width })
})

test('windows fit after zooming or turning the screen, and get their size back', async () => {
  const { window, page } = await withNotes({ viewport: { width: 820, height: 1_180 } })
  const before = await boxOf(window)
  expect(before.x).toBeGreaterThan(0)
  // 200 % zoom halves the size of the page.
  await page.setViewportSize({ width: 700, height: 400 })
  await expect
    .poll(async () => {
      const { x, y, width, height } = await boxOf(window)
      return x >= 0 && y >= 0 && x + width <= 700 && y + height <= 400
    })
    .toBe(true)
  await page.setViewportSize({ width: 820, height: 1_180 })
  await expect.poll(() => boxOf(window)).toEqual(before)
})

test('on a phone an app has the whole screen and the dock is below', async () => {
  const visited = await withNotes({ viewport: { width: 390, height: 844 }, hasTouch: true })
  const { window, page } = visited
  expect(await boxOf(window)).toMatchObject({ x: 0, width: 390 })
  const dock = await boxOf(page.getByRole('navigation', { name: 'Dock' }))
  expect(dock).toMatchObject({ x: 0, width: 390 })
  expect(dock.y + dock.height).toBe(844)
  // One bar for both: the window reaches up to that of the desktop, which has its buttons.
  const bar = page.getByRole('banner')
  await bar.getByText('Notes').waitFor()
  expect(await window.getByRole('heading').count()).toBe(0)
  expect((await boxOf(window)).y).toBe((await boxOf(bar)).height)
  expect(await visited.flaws()).toEqual([])
  await bar.getByRole('button', { name: 'Minimise' }).tap()
  await window.waitFor({ state: 'hidden' })
  await bar.getByText('svc').waitFor()
  await page.getByRole('button', { name: 'Notes, open' }).tap()
  await bar.getByRole('button', { name: 'Close' }).tap()
  await window.waitFor({ state: 'detached' })
})

test.each(['light', 'dark'] as const)(
  'launcher, menus, keys and notifications are usable by everybody, %s',
  async (theme) => {
    const visited = await withNotes({ colorScheme: theme })
    const { page } = visited
    expect(await page.locator('html').getAttribute('data-theme')).toBe(theme)
    expect(await visited.flaws()).toEqual([])
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox', { name: 'Search everything' }).waitFor()
    expect(await visited.flaws()).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Account: Ada' }).click()
    expect(await visited.flaws()).toEqual([])
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
    expect(await visited.flaws()).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Notifications' }).click()
    await page.getByText('No notifications').waitFor()
    expect(await visited.flaws()).toEqual([])
    expectQuiet(visited)
  },
)

test('the server gone is said, and that it is back', async () => {
  const visited = await withNotes()
  const { page } = visited
  const notes = await visited.app('notes')
  await notes.getByText('No notes yet').waitFor()
  await page.route('**/api/**', (route) => route.abort())
  await notes.getByRole('button', { name: 'New note' }).first().click()
  await notes.getByRole('textbox', { name: 'Title' }).fill('Written without a server')
  await page.evaluate('dispatchEvent(new Event("online"))')
  await notes.getByText('Not saved yet').waitFor()
  await page.context().setOffline(true)
  await page.unroute('**/api/**')
  await page.context().setOffline(false)
  await notes.getByText('Saved', { exact: true }).waitFor()
})

test('an app whose page is there before the desktop draws again is heard', async () => {
  const visited = await world.enter(await world.person())
  await visited.open('notes', 'Notes')
  // As in a tab that nobody looks at, or on a machine that is busy: nothing is drawn, and what waits for a moment waits long.
  await visited.context.addInitScript(`
    if (window === top) {
      const later = setTimeout
      requestAnimationFrame = () => 0
      setTimeout = (act, ms = 0, ...more) => later(act, ms + 3_000, ...more)
    }
  `)
  await visited.page.reload()
  const notes = await visited.app('notes')
  await notes.getByText('No notes yet').waitFor({ state: 'attached' })
  expectQuiet(visited)
})
