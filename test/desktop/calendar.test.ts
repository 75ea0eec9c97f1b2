import type { Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

/** Somebody with the calendar open at a view, and the events as the database has them. */
async function withCalendar(view: string, options = {}) {
  const person = await world.person()
  const visited = await world.enter(person, options)
  const app = await visited.open('calendar', 'Calendar')
  await visited.page.keyboard.press('Control+Alt+ArrowUp')
  await app.getByLabel('View').selectOption(view)
  const { sync } = world.server.local.domain
  return {
    visited,
    app,
    page: visited.page,
    today: await app.evaluate<string>(`new Intl.DateTimeFormat('sv').format(new Date())`),
    rows: async () => (await rowsAndCursorOf(sync, person.id, ['svc_events'])).data['svc_events'] as object[],
    async insert(...some: object[]) {
      const operations = some.map((data) => ({ table: 'svc_events', operation: 'INSERT', data }))
      const { results } = await sync.push(person.id, { operations } as never, undefined)
      expect(results.every(({ status }) => status === 'applied')).toBe(true)
    },
  }
}

/** The point of a day at an hour, pixels of the page. */
async function pointOf(app: Frame, day: string, hour: number): Promise<{ x: number; y: number }> {
  const box = (await app.locator(`.time-day[data-date="${day}"]`).boundingBox())!
  return { x: box.x + box.width / 2, y: box.y + (box.height / 24) * hour }
}

type Point = { x: number; y: number }

async function dragFromTo(page: Page, from: Point, to: Point): Promise<void> {
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2)
  await page.mouse.move(to.x, to.y)
  await page.mouse.up()
}

test('an event is drawn, moved and made longer with the mouse, and goes back', async () => {
  const { visited, app, page, rows, today } = await withCalendar('Day')
  await dragFromTo(page, await pointOf(app, today, 10), await pointOf(app, today, 11.5))
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('Title').fill('Engine')
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  const at = (hours: string): string => `${today}T${hours}:00.000Z`
  await expect.poll(rows).toMatchObject([{ title: 'Engine', starts_at: at('10:00'), ends_at: at('11:30') }])

  await dragFromTo(page, await pointOf(app, today, 10.5), await pointOf(app, today, 13.5))
  await expect.poll(rows).toMatchObject([{ starts_at: at('13:00'), ends_at: at('14:30') }])
  // The event that was moved is not opened by the release of the button.
  expect(await dialog.count()).toBe(0)
  const end = await pointOf(app, today, 14.5)
  await dragFromTo(page, { ...end, y: end.y - 3 }, await pointOf(app, today, 15.5))
  await expect.poll(rows).toMatchObject([{ starts_at: at('13:00'), ends_at: at('15:30') }])
  await app.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(rows).toMatchObject([{ starts_at: at('13:00'), ends_at: at('14:30') }])

  // Escape leaves everything as it is.
  const [from, to] = [await pointOf(app, today, 13.5), await pointOf(app, today, 9)]
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(to.x, to.y)
  await page.keyboard.press('Escape')
  await page.mouse.up()
  expect(await app.locator('.drag-preview').count()).toBe(0)
  await expect.poll(rows).toMatchObject([{ starts_at: at('13:00') }])
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('an event is added, moved and made longer by keys alone', async () => {
  const { visited, app, page, rows, today } = await withCalendar('Day')
  await app.locator('.slot').focus()
  for (const key of ['ArrowUp', 'ArrowUp', 'Shift+ArrowDown']) await page.keyboard.press(key)
  await page.keyboard.press('Enter')
  await app.getByRole('dialog').getByLabel('Title').fill('Tea')
  await page.keyboard.press('Escape')
  await expect.poll(rows).toMatchObject([{ starts_at: `${today}T08:00:00.000Z`, ends_at: `${today}T09:30:00.000Z` }])
  const event = app.locator('.time-day').getByRole('button', { name: /Tea/ })
  await event.focus()
  for (const key of ['Alt+ArrowDown', 'Alt+ArrowDown', 'Alt+Shift+ArrowDown']) await page.keyboard.press(key)
  await expect.poll(rows).toMatchObject([{ starts_at: `${today}T08:30:00.000Z`, ends_at: `${today}T10:15:00.000Z` }])
  await expect.poll(() => event.evaluate((element) => element.matches(':focus'))).toBe(true)
  await page.keyboard.press('Delete')
  await app.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(rows).toEqual([])
  expectQuiet(visited)
})

test('an event over days is one bar in the month, and is dragged to another day', async () => {
  const { visited, app, page, rows, insert } = await withCalendar('Month')
  const days = await app.locator('td[data-date]').evaluateAll((cells) => cells.map((cell) => cell.dataset['date']!))
  // The second week of the month, whichever that is.
  const row = days.slice(7, 14)
  await insert({
    title: 'Conference',
    all_day: true,
    starts_at: `${row[1]}T00:00:00Z`,
    ends_at: `${row[4]}T00:00:00Z`,
  })
  const bar = app.locator('.month').getByRole('button', { name: 'Conference' })
  await bar.waitFor()
  expect(await bar.count()).toBe(1)
  const cell = (await app.locator(`td[data-date="${row[1]}"]`).boundingBox())!
  const box = (await bar.boundingBox())!
  expect(box.width).toBeGreaterThan(2.8 * cell.width)
  await dragFromTo(
    page,
    { x: box.x + cell.width / 2, y: box.y + box.height / 2 },
    { x: box.x + cell.width * 2.5, y: box.y + box.height / 2 },
  )
  await expect
    .poll(rows)
    .toMatchObject([{ all_day: true, starts_at: `${row[3]}T00:00:00Z`, ends_at: `${row[6]}T00:00:00Z` }])
  // Its end is dragged by its edge.
  const moved = (await bar.boundingBox())!
  const edge = { x: moved.x + moved.width - 3, y: moved.y + moved.height / 2 }
  await dragFromTo(page, edge, { ...edge, x: edge.x - cell.width })
  await expect.poll(rows).toMatchObject([{ starts_at: `${row[3]}T00:00:00Z`, ends_at: `${row[5]}T00:00:00Z` }])
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('the view that was chosen is there again, and ten thousand events leave it usable', async () => {
  const { visited, app, page, insert, today } = await withCalendar('Week', { timezoneId: 'Asia/Kathmandu' })
  const start = Date.parse(`${today}T03:00:00Z`)
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    title: `Event ${index}`,
    starts_at: new Date(start + (index - 5_000) * 86_400_000).toISOString(),
    ends_at: new Date(start + (index - 5_000) * 86_400_000 + 3_600_000).toISOString(),
  }))
  for (let from = 0; from < many.length; from += 100) await insert(...many.slice(from, from + 100))
  await page.reload()
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
  const again = await visited.open('calendar', 'Calendar')
  const event = again.locator('.time-day').getByRole('button', { name: 'Event 5000' })
  await event.waitFor()
  // Kathmandu is 5:45 hours ahead.
  await event.getByText('08:45–09:45').waitFor()
  expect(await again.locator('.time-day .event').count()).toBe(7)
  await again.getByRole('button', { name: 'Next' }).click()
  await again.locator('.time-day').getByRole('button', { name: 'Event 5007' }).waitFor()
  expect(app.isDetached()).toBe(true)
  expectQuiet(visited)
})
