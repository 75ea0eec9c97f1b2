import { readFile } from 'node:fs/promises'
import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

async function withCalendar(options = {}) {
  const person = await world.person()
  const visited = await world.enter(person, { timezoneId: 'Europe/Berlin', ...options })
  await visited.page.clock.setFixedTime(new Date('2026-03-25T12:00:00Z'))
  const app = await visited.open('calendar', 'Calendar')
  const rows = async () =>
    (await rowsAndCursorOf(world.server.local.domain.sync, person.id, ['svc_events'])).data[
      'svc_events'
    ] as unknown as Record<string, unknown>[]
  return { visited, app, rows }
}

const calendarOf = (...events: string[][]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Example//EN',
    ...events.flatMap((lines) => ['BEGIN:VEVENT', 'DTSTAMP:20260101T000000Z', ...lines, 'END:VEVENT']),
    'END:VCALENDAR',
    '',
  ].join('\r\n')

const choir = [
  'UID:choir@example.org',
  'SUMMARY:Choir',
  'DTSTART;TZID=Europe/Berlin:20260319T190000',
  'DURATION:PT2H',
  'RRULE:FREQ=WEEKLY;BYDAY=TH',
  'ATTENDEE;CN=Grace:mailto:grace@example.org',
]
const dentist = ['UID:dentist@example.org', 'SUMMARY:Dentist', 'DTSTART:20260326T080000Z', 'DTEND:20260326T083000Z']

const choose = (app: Frame, name: string, text: string) =>
  app.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/calendar', buffer: Buffer.from(text) })

test('a file of another program is imported, shown, exported as it was, and imported again without a copy', async () => {
  const { visited, app, rows } = await withCalendar()
  await choose(app, 'both.ics', calendarOf(choir, dentist))
  await app.getByText('2 added, 0 updated.').waitFor()
  expect((await rows()).map(({ title, rrule }) => [title, rrule])).toEqual(
    expect.arrayContaining([
      ['Choir', 'FREQ=WEEKLY;BYDAY=TH'],
      ['Dentist', null],
    ]),
  )
  await app.getByLabel('View').selectOption('Week')
  await app.locator('.event', { hasText: 'Choir' }).first().waitFor()
  expect(await visited.flaws()).toEqual([])

  await choose(
    app,
    'again.ics',
    calendarOf(choir, [...dentist.slice(0, 1), 'SUMMARY:Dentist, upper floor', ...dentist.slice(2)]),
  )
  await app.getByText('0 added, 1 updated.').waitFor()
  expect((await rows()).map(({ title }) => title).toSorted()).toEqual(['Choir', 'Dentist, upper floor'])

  await app.getByRole('button', { name: 'More', exact: true }).click()
  const download = visited.page.waitForEvent('download')
  await app.getByRole('menuitem', { name: 'Export as iCalendar (.ics)' }).click()
  const saved = await download
  expect(saved.suggestedFilename()).toBe('calendar.ics')
  const text = await readFile(await saved.path(), 'utf8')
  for (const line of choir) expect(text).toContain(`${line}\r\n`)
  expectQuiet(visited)
})

test('an event of a series that was moved and then cancelled is no longer shown', async () => {
  const { app } = await withCalendar()
  const id = ['UID:choir@example.org', 'RECURRENCE-ID;TZID=Europe/Berlin:20260326T190000']
  const concert = [...id, 'SUMMARY:Concert', 'DTSTART;TZID=Europe/Berlin:20260327T190000']
  await choose(app, 'choir.ics', calendarOf(choir, concert))
  await app.getByText('2 added, 0 updated.').waitFor()
  await app.getByLabel('View').selectOption('Week')
  const shown = () => app.locator('.event').allTextContents()
  await expect.poll(shown).toEqual([expect.stringContaining('Concert')])
  await choose(app, 'newer.ics', calendarOf(choir, [...concert, 'STATUS:CANCELLED']))
  await app.getByText('0 added, 1 updated.').waitFor()
  await expect.poll(shown).toEqual([])
})

test('an import is undone with one click', async () => {
  const { app, rows } = await withCalendar()
  await choose(app, 'both.ics', calendarOf(choir, dentist))
  await app.getByText('2 added').waitFor()
  await app.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(rows).toEqual([])
})

test('what cannot be read is said, and the rest is imported', async () => {
  const { app, rows } = await withCalendar()
  await choose(app, 'notes.txt', 'Milk\n')
  await app.getByText('notes.txt cannot be read. Line 1: svc_events has no column "Milk"').waitFor()
  await choose(app, 'mixed.ics', calendarOf(['UID:1', 'SUMMARY:No time'], dentist, ['DTSTART:never', 'SUMMARY:Bad']))
  await app.getByText('1 added, 0 updated.').waitFor()
  expect(await app.locator('.toast').allTextContents()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/event 1 [(]line 4[)]: it has no beginning[.].*event 3 [(]line 16[)]: /s),
    ]),
  )
  expect((await rows()).map(({ title }) => title)).toEqual(['Dentist'])
})

test('an event of Outlook keeps its hour, a cancelled one is left out, and what is not taken over is said', async () => {
  const { app, rows } = await withCalendar()
  const standup = [
    'UID:s',
    'SUMMARY:Standup',
    'DTSTART;TZID=W. Europe Standard Time:20260105T090000',
    'RRULE:FREQ=WEEKLY',
  ]
  await choose(app, 'outlook.ics', calendarOf([...standup, 'RRULE:FREQ=YEARLY'], [...dentist, 'STATUS:CANCELLED']))
  await app.getByText('1 added, 0 updated.').waitFor()
  const text = await app.locator('.toast').first().textContent()
  expect(text).toContain('1 cancelled event was left out.')
  expect(text).toContain('event 1 (line 4): it has 2 rules; only the first is used.')
  expect(await rows()).toMatchObject([{ title: 'Standup', tzid: 'Europe/Berlin' }])
})
