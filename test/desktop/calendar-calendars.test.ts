import { readFile } from 'node:fs/promises'
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
  // Beside the list of a wide window there is no button for it.
  expect(await app.getByRole('button', { name: 'Calendars' }).count()).toBe(0)
  const manage = async () => {
    await app.getByRole('button', { name: 'More: Calendar', exact: true }).click()
    await app.getByRole('menuitem', { name: 'Name and colour …' }).click()
  }

  await manage()
  await app.getByRole('dialog').getByRole('button', { name: 'Add calendar' }).click()
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

  await manage()
  await app.getByRole('checkbox', { name: 'Show Work' }).uncheck()
  await event.waitFor({ state: 'detached' })
  await app.getByRole('checkbox', { name: 'Show Work' }).check()
  await app.getByRole('dialog').getByRole('button', { name: 'More: Work' }).click()
  await app.getByRole('menuitem', { name: 'Delete Work' }).click()
  await app.getByText('This calendar has 1 event.').waitFor()
  await app.getByRole('button', { name: 'Delete events too' }).click()
  await expect.poll(() => rows('svc_calendars')).toEqual([])
  expect(await rows('svc_events')).toEqual([])
  await app.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => rows('svc_events')).toMatchObject([{ title: 'Standup', calendar_uid: work!['uid'] }])

  await manage()
  await app.getByRole('dialog').getByRole('button', { name: 'More: Work' }).click()
  await app.getByRole('menuitem', { name: 'Delete Work' }).click()
  await app.getByRole('button', { name: 'Move events' }).click()
  await expect.poll(() => rows('svc_events')).toMatchObject([{ title: 'Standup', calendar_uid: null }])
  await expect.poll(() => rows('svc_calendars')).toEqual([])
  expectQuiet(visited)
})

test('a calendar whose deletion is interrupted keeps the other events, says so, and comes back with one click', async () => {
  const person = await world.person()
  const { sync } = world.server.local.domain
  const uid = 'work'
  const starts_at = `${new Date().toISOString().slice(0, 10)}T10:00:00Z`
  const insert = (table: string, data: object) => ({ table, operation: 'INSERT', data })
  const events = Array.from({ length: 60 }, (_, at) =>
    insert('svc_events', { title: `${at}`, starts_at, calendar_uid: uid }),
  )
  const calendar = insert('svc_calendars', { name: 'Work', uid })
  for (const operations of [[calendar, ...events.slice(0, 40)], events.slice(40)])
    await sync.push(person.id, { operations } as never, undefined)
  const rows = async (table: string) => (await rowsAndCursorOf(sync, person.id, [table])).data[table]!
  const titles = async () =>
    (await rows('svc_events')).map((row) => Number((row as { title?: string }).title)).toSorted((a, b) => a - b)
  const visited = await world.enter(person)
  const app = await visited.open('calendar', 'Calendar')
  await app.locator('.event, .more-events').first().waitFor()
  let pushes = 0
  await visited.page.route('**/api/rows.php?action=push', (route) =>
    ++pushes === 2
      ? route.fulfill({ status: 400, json: { ok: false, code: 'bad_request', error: 'No.' } })
      : route.continue(),
  )
  await app.getByRole('button', { name: 'More: Work' }).click()
  await app.getByRole('menuitem', { name: 'Delete Work' }).click()
  await app.getByRole('button', { name: 'Delete events too' }).click()
  await app.getByText('Work was not deleted completely.').waitFor()
  expect(await titles()).toHaveLength(10)
  expect(await rows('svc_calendars')).toHaveLength(1)
  await app.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(titles).toEqual(events.map((_, at) => at))
  expect(await rows('svc_calendars')).toHaveLength(1)

  // The events move; meanwhile one is deleted elsewhere, and another is put elsewhere.
  await app.getByRole('button', { name: 'More: Work' }).click()
  await app.getByRole('menuitem', { name: 'Delete Work' }).click()
  await app.getByText('This calendar has 60 events.').waitFor()
  await app.getByRole('button', { name: 'Move events' }).click()
  await app.getByText('Work was deleted.').waitFor()
  const [gone, elsewhere] = (await rows('svc_events')) as unknown as { id: number }[]
  const operations = [
    { table: 'svc_events', operation: 'DELETE', data: { id: gone!.id } },
    { table: 'svc_events', operation: 'UPDATE', data: { id: elsewhere!.id, calendar_uid: 'other' } },
  ]
  await sync.push(person.id, { operations } as never, undefined)
  // The response to the first request of the undo is lost.
  let undos = 0
  await visited.page.route('**/api/rows.php?action=push', async (route) => {
    if (++undos !== 2) return route.continue()
    await route.fetch()
    await route.abort()
  })
  await app.getByRole('button', { name: 'Undo' }).click()
  const calendarUids = async () =>
    (await rows('svc_events')).map((row) => (row as { calendar_uid?: unknown }).calendar_uid).toSorted()
  await expect.poll(calendarUids, { timeout: 20_000 }).toEqual(['other', ...Array.from({ length: 58 }, () => uid)])
  expect(await rows('svc_calendars')).toHaveLength(1)
})

test('the list beside the days hides, exports and takes calendars from files, by keys and in German', async () => {
  const person = await world.person()
  const { sync } = world.server.local.domain
  const rows = async (table: string) =>
    (await rowsAndCursorOf(sync, person.id, [table])).data[table] as unknown as Record<string, unknown>[]
  const visited = await world.enter(person, { locale: 'de-DE' })
  const { page } = visited
  await page.goto('about:blank')
  await page.goto('/#open=calendar')
  await page.locator('iframe[data-app=calendar]').waitFor()
  const app = await visited.app('calendar')
  const day = new Date().toISOString().slice(0, 10)
  const file = [
    'BEGIN:VCALENDAR',
    'X-WR-CALNAME:Chor / Alt',
    'X-APPLE-CALENDAR-COLOR:#C2410C',
    'BEGIN:VEVENT',
    'UID:probe',
    'SUMMARY:Probe',
    `DTSTART;VALUE=DATE:${day.replaceAll('-', '')}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n')
  const choose = (text: string) =>
    app.locator('input[type=file]').setInputFiles({ name: 'chor.ics', mimeType: '', buffer: Buffer.from(text) })
  const dialog = app.getByRole('dialog', { name: 'Termine importieren' })

  await choose(file)
  await dialog.waitFor()
  expect(await visited.flaws()).toEqual([])
  await dialog.getByRole('button', { name: 'Abbrechen' }).click()
  expect(await rows('svc_calendars')).toEqual([])
  // What cannot be read adds no calendar.
  await choose(file.replace('UID:probe', 'DTSTART:never').replace(/DTSTART;.*/, ''))
  await app.getByText('0 hinzugefügt, 0 aktualisiert.').waitFor()
  expect(await rows('svc_calendars')).toEqual([])

  await choose(file)
  await dialog.waitFor()
  await page.keyboard.press('Enter')
  await app.getByText('1 hinzugefügt, 0 aktualisiert.').waitFor()
  const [first] = await rows('svc_calendars')
  expect(first).toMatchObject({ name: 'Chor / Alt', color: '#c2410c', is_default: false })
  expect(await rows('svc_events')).toMatchObject([{ title: 'Probe', calendar_uid: first!['uid'] }])
  // The undo leaves no empty calendar.
  await app.getByRole('button', { name: 'Rückgängig' }).click()
  await expect.poll(() => rows('svc_calendars')).toEqual([])
  expect(await rows('svc_events')).toEqual([])
  await choose(file)
  await dialog.waitFor()
  await page.keyboard.press('Enter')
  await app.getByText('1 hinzugefügt, 0 aktualisiert.').waitFor()
  const [choir] = await rows('svc_calendars')
  // An event that is there already stays in its calendar, whatever that is called by now; a new one joins it.
  await choose(file.replace('Alt', 'Sopran').replace('SUMMARY:Probe', 'SUMMARY:Generalprobe'))
  await app.getByText('0 hinzugefügt, 1 aktualisiert.').waitFor()
  const more = [
    'BEGIN:VEVENT',
    'UID:mehr',
    'SUMMARY:Nachfeier',
    'DTSTART:20260101T190000Z',
    'END:VEVENT',
    'END:VCALENDAR',
  ]
  await choose(file.replace('Alt', 'Sopran').replace('END:VCALENDAR', more.join('\r\n')))
  await dialog.waitFor()
  await page.keyboard.press('Enter')
  await app.getByText('1 hinzugefügt, 1 aktualisiert.').waitFor()
  expect(await rows('svc_calendars')).toHaveLength(1)
  expect((await rows('svc_events')).map((row) => row['calendar_uid'])).toEqual([choir!['uid'], choir!['uid']])
  const side = app.getByRole('region', { name: 'Kalender' })
  const event = app.locator('.event', { hasText: 'Probe' })
  await event.first().waitFor()
  expect(await visited.flaws()).toEqual([])
  await side.getByRole('checkbox', { name: 'Chor / Alt' }).press('Space')
  await event.first().waitFor({ state: 'detached' })
  await side.getByRole('checkbox', { name: 'Chor / Alt' }).press('Space')
  await event.first().waitFor()

  await side.getByRole('button', { name: 'Aktionen für Chor / Alt' }).press('Enter')
  await app.getByRole('menuitemradio', { name: 'Für neue Termine' }).press('Enter')
  await app.getByRole('button', { name: 'Neuer Termin', exact: true }).click()
  await app.getByRole('dialog').getByLabel('Titel').fill('Konzert')
  await app.getByRole('dialog').getByRole('button', { name: 'Speichern und schließen' }).click()
  await expect
    .poll(async () => (await rows('svc_events')).map((row) => row['calendar_uid']))
    .toEqual([choir!['uid'], choir!['uid'], choir!['uid']])
  await side.getByRole('button', { name: 'Aktionen für Chor / Alt' }).press('Enter')
  const download = page.waitForEvent('download')
  await app.getByRole('menuitem', { name: 'Als iCalendar (.ics) exportieren' }).press('Enter')
  const saved = await download
  expect(saved.suggestedFilename()).toBe('Chor _ Alt.ics')
  const text = await readFile(await saved.path(), 'utf8')
  for (const line of ['X-WR-CALNAME:Chor / Alt', 'X-APPLE-CALENDAR-COLOR:#C2410C', 'SUMMARY:Probe', 'SUMMARY:Konzert'])
    expect(text).toContain(`${line}\r\n`)
  expectQuiet(visited)
})
