import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

test('calendars are added, named, hidden and deleted, and their events go where the user says, with undo', async () => {
  const person = await world.person()
  const { sync } = world.server.local.domain
  const rows = async (table: 'svc_events' | 'svc_calendars') =>
    (await rowsAndCursorOf(sync, person.id, [table])).data[table] as unknown as Record<string, unknown>[]
  const visited = await world.enter(person)
  const app = await visited.open('calendar', 'Calendar')
  await visited.page.keyboard.press('Control+Alt+ArrowUp')
  const data = { title: 'Standup', starts_at: `${new Date().toISOString().slice(0, 10)}T10:00:00Z` }
  await sync.push(person.id, { operations: [{ table: 'svc_events', operation: 'INSERT', data }] } as never, undefined)
  await app.getByLabel('View').selectOption('Week')
  const event = app.locator('.event', { hasText: 'Standup' })
  await event.waitFor()
  expect(await app.locator('.calendar-sign').count()).toBe(0)

  await app.getByRole('button', { name: 'Calendars' }).click()
  await app.getByRole('button', { name: 'Add calendar' }).click()
  const name = app.getByRole('textbox', { name: 'Name of New calendar' })
  await name.fill('Work')
  await name.press('Tab')
  await expect.poll(() => rows('svc_calendars')).toMatchObject([{ name: 'Work', is_default: false }])
  expect(await visited.flaws()).toEqual([])
  await app.getByRole('button', { name: 'Done' }).click()

  await event.click()
  await app.getByRole('dialog').getByLabel('Calendar', { exact: true }).selectOption('Work')
  await app.getByRole('dialog').getByRole('button', { name: 'Save and close' }).click()
  const [work] = await rows('svc_calendars')
  await expect.poll(() => rows('svc_events')).toMatchObject([{ calendar_uid: work!['uid'] }])
  expect(await event.locator('.calendar-sign').textContent()).toBe('W')
  for (const view of ['Month', 'Day', 'List', 'Week']) {
    await app.getByLabel('View').selectOption(view)
    await event.first().waitFor()
    expect(await visited.flaws()).toEqual([])
  }

  await app.getByRole('button', { name: 'Calendars' }).click()
  await app.getByRole('checkbox', { name: 'Show Work' }).uncheck()
  await event.waitFor({ state: 'detached' })
  await app.getByRole('checkbox', { name: 'Show Work' }).check()
  await app.getByRole('button', { name: 'Delete Work' }).click()
  await app.getByText('This calendar has 1 event.').waitFor()
  await app.getByRole('button', { name: 'Delete events too' }).click()
  await expect.poll(() => rows('svc_calendars')).toEqual([])
  expect(await rows('svc_events')).toEqual([])
  await app.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  await app.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => rows('svc_events')).toMatchObject([{ title: 'Standup', calendar_uid: work!['uid'] }])

  await app.getByRole('button', { name: 'Calendars' }).click()
  await app.getByRole('button', { name: 'Delete Work' }).click()
  await app.getByRole('button', { name: 'Move events' }).click()
  await expect.poll(() => rows('svc_events')).toMatchObject([{ title: 'Standup', calendar_uid: null }])
  await expect.poll(() => rows('svc_calendars')).toEqual([])
  expectQuiet(visited)
})
