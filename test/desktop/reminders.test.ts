import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld, type Person } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

type Row = Record<string, unknown> & { id: number }

function rowsOf({ id }: Person, table: 'svc_events' | 'svc_tasks') {
  const { sync } = world.server.local.domain
  return {
    rows: async () => (await rowsAndCursorOf(sync, id, [table])).data[table] as unknown as Row[],
    insert: (...rows: Record<string, unknown>[]) =>
      sync.push(id, { operations: rows.map((data) => ({ table, operation: 'INSERT', data })) }, undefined),
  }
}

/** Turns the clock of a page, as if the computer had slept. */
async function turnTo(page: Page, moment: string): Promise<void> {
  await page.clock.setFixedTime(new Date(moment))
  await page.evaluate("dispatchEvent(new Event('focus'))")
}

/** A desktop in Berlin whose page was loaded at a moment. */
async function enterAt(person: Person, moment: string, options = {}) {
  const visited = await world.enter(person, { timezoneId: 'Europe/Berlin', ...options })
  await visited.page.clock.setFixedTime(new Date(moment))
  const isRead = visited.page.waitForResponse((response) =>
    decodeURIComponent(response.url()).includes('svc_events,svc_tasks'),
  )
  await visited.page.reload()
  await isRead
  const cards = visited.page.getByRole('region', { name: /Reminders|Erinnerungen/ })
  return { ...visited, cards }
}

test('an event rings on every device, again after ten minutes, and no more when it is dismissed on one', async () => {
  const person = await world.person()
  const { rows, insert } = rowsOf(person, 'svc_events')
  await insert({ title: 'Choir', starts_at: '2030-03-28T18:00:00Z', reminders: ['10'] })
  const first = await enterAt(person, '2030-03-28T17:49:00Z')
  const second = await enterAt(person, '2030-03-28T17:49:00Z')
  await turnTo(first.page, '2030-03-28T17:49:59Z')
  expect(await first.cards.count()).toBe(0)
  await turnTo(first.page, '2030-03-28T17:50:00Z')
  await first.cards.getByText('Today, 19:00').waitFor()
  await expect.poll(() => first.page.title()).toBe('(1) svc')
  expect(await first.flaws()).toEqual([])
  // Above the dock, far from the buttons of windows and apps; in the list of notifications while that is open.
  const [card, screen] = [await first.cards.boundingBox(), first.page.viewportSize()!]
  expect(card!.y).toBeGreaterThan(screen.height / 2)
  await first.page.getByRole('button', { name: 'Notifications (1)' }).click()

  const list = first.page.getByRole('dialog', { name: 'Notifications' })
  await list.getByRole('button', { name: 'Remind of “Choir” in 10 minutes' }).click()
  await first.page.keyboard.press('Escape')
  await expect.poll(() => first.cards.count()).toBe(0)
  await expect
    .poll(rows)
    .toMatchObject([{ reminded_at: '2030-03-28T17:50:00.000Z', snoozed_until: '2030-03-28T18:00:00.000Z' }])
  await second.page.evaluate(`
    globalThis.shown = []
    Object.defineProperty(document, 'hidden', { get: () => true })
    globalThis.Notification = class extends EventTarget {
      static permission = 'granted'
      constructor(title, { body }) { super(); shown.push(title + ': ' + body) }
    }`)
  for (const { page, cards } of [first, second]) {
    await turnTo(page, '2030-03-28T18:00:00Z')
    await cards.getByText('Choir').waitFor()
  }
  expect(await second.page.evaluate('shown')).toEqual(['Choir: Today, 19:00'])
  await first.cards.getByRole('button', { name: 'Dismiss “Choir”' }).press('Enter')
  await expect.poll(() => second.cards.count()).toBe(0)
  await expect.poll(() => first.page.title()).toBe('svc')
  // What is dismissed anywhere counts as read everywhere.
  for (const { page } of [first, second])
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
  await first.page.reload()
  await first.page.getByRole('navigation', { name: 'Dock' }).waitFor()
  expect(await first.cards.count()).toBe(0)
  expectQuiet(first)
})

test('what was missed is shown at the next sign-in, and a skipped hour rings when the clock jumps', async () => {
  const person = await world.person()
  const events = rowsOf(person, 'svc_events')
  const tasks = rowsOf(person, 'svc_tasks')
  await events.insert(
    { title: 'Yesterday', starts_at: '2030-03-30T08:00:00Z', reminders: ['0'] },
    { title: 'Long ago', starts_at: '2030-03-01T08:00:00Z', reminders: ['0'] },
    { title: 'Daily', starts_at: '2030-03-01T09:00:00Z', rrule: 'FREQ=DAILY', tzid: 'Europe/Berlin', reminders: ['0'] },
    // A rule that would keep the page busy for half a minute.
    {
      title: 'Hostile',
      starts_at: '2030-03-01T09:00:00Z',
      rrule: 'FREQ=DAILY;COUNT=1000000;BYDAY=MO',
      reminders: ['0'],
    },
  )
  await tasks.insert({
    title: 'Jump',
    due_on: '2030-04-01',
    due_time: '02:30',
    tzid: 'Europe/Berlin',
    reminders: ['1440'],
  })
  const visited = await enterAt(person, '2030-03-30T23:00:00Z', { locale: 'de-DE' })
  const { page, cards } = visited
  await cards.getByText('Yesterday').waitFor()
  await cards.getByText('Daily').waitFor()
  expect(await cards.getByText('Long ago').count()).toBe(0)
  expect(await visited.flaws()).toEqual([])
  await cards.getByRole('button', { name: 'Alle schließen' }).click()
  await expect.poll(() => cards.count()).toBe(0)

  // The clock goes from 1:59:59 to 3:00.
  await turnTo(page, '2030-03-31T00:59:59Z')
  expect(await cards.count()).toBe(0)
  await turnTo(page, '2030-03-31T01:00:00Z')
  await cards.getByText('Jump').click()
  const app = await visited.app('tasks')
  await app.getByRole('dialog').getByRole('combobox', { name: 'Erinnerung' }).waitFor()
  expectQuiet(visited)
})

test('reminders are chosen for events and tasks; what has passed does not ring', async () => {
  const person = await world.person()
  const { rows, insert } = rowsOf(person, 'svc_events')
  await insert({ title: 'Choir', starts_at: '2030-03-28T18:00:00Z', ends_at: '2030-03-28T20:00:00Z', reminders: ['7'] })
  const visited = await enterAt(person, '2030-03-28T17:00:00Z')
  const calendar = await visited.open('calendar', 'Calendar')
  await calendar.getByRole('button', { name: /Choir/ }).first().click()
  const dialog = calendar.getByRole('dialog')
  expect(await dialog.getByLabel('Reminder', { exact: true }).locator('option:checked').textContent()).toBe(
    '7 minutes before',
  )
  await dialog.getByRole('button', { name: 'Add reminder' }).click()
  await dialog.getByLabel('Reminder 2', { exact: true }).selectOption('1 day before')
  await dialog.getByText('Saved', { exact: true }).waitFor()
  expect(await visited.flaws()).toEqual([])
  expect(await rows()).toMatchObject([{ reminders: ['7', '1440'], reminded_at: '2030-03-28T17:00:00.000Z' }])
  expect(await visited.cards.count()).toBe(0)
  await dialog.getByText('All day').click()
  await dialog.getByRole('combobox', { name: 'Reminder 1' }).selectOption('On the day at 09:00')
  await dialog.getByRole('button', { name: 'Remove reminder 2' }).click()
  await expect.poll(rows).toMatchObject([{ all_day: true, reminders: ['-540'] }])
  await dialog.getByRole('button', { name: 'Remove reminder 1' }).click()
  await expect.poll(rows).toMatchObject([{ reminders: [] }])
  expectQuiet(visited)
})

test.each([['["soon"]'], ['["1.5"]'], ['["--1"]'], ['["1e3"]'], ['[10]'], ['["12345678"]']])(
  'reminders that are no minutes are refused: %s',
  async (text) => {
    const person = await world.person()
    const { results } = await world.server.local.domain.sync.push(
      person.id,
      { operations: [{ table: 'svc_tasks', operation: 'INSERT', data: { title: 'x', reminders: JSON.parse(text) } }] },
      undefined,
    )
    expect(results).toMatchObject([{ status: 'error', code: 'bad_value' }])
  },
)
