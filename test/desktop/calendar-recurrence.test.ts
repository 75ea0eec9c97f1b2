import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

/** Somebody with the calendar open on a week of March 2026, whose last Sunday has no half past two in Berlin. */
async function withCalendar(rows: object[] = [], options = {}) {
  const person = await world.person()
  const { sync } = world.server.local.domain
  const insert = async (...some: object[]): Promise<void> => {
    const operations = some.map((data) => ({ table: 'svc_events', operation: 'INSERT', data }))
    const { results } = await sync.push(person.id, { operations } as never, undefined)
    expect(results.map(({ status }) => status)).toEqual(some.map(() => 'applied'))
  }
  await insert(...rows)
  const visited = await world.enter(person, { timezoneId: 'Europe/Berlin', ...options })
  await visited.page.clock.setFixedTime(new Date('2026-03-25T12:00:00Z'))
  const app = await visited.open('calendar', 'Calendar')
  await visited.page.keyboard.press('Control+Alt+ArrowUp')
  await app.getByLabel('View').selectOption('Week')
  return {
    visited,
    app,
    page: visited.page,
    insert,
    rows: async () =>
      (
        (await rowsAndCursorOf(sync, person.id, ['svc_events'])).data['svc_events'] as Record<string, unknown>[]
      ).toSorted((a, b) => Number(a['id']) - Number(b['id'])),
  }
}

/** The days of the week on which events of a title are shown, with their times. */
const shown = (app: Frame, title: string): Promise<string[]> =>
  app
    .locator('.time-day')
    .evaluateAll(
      (days, name) =>
        days.flatMap((day) =>
          [...day.querySelectorAll('.event')]
            .filter((event) => event.textContent!.includes(name))
            .map((event) => `${day.getAttribute('data-date')!.slice(5)} ${event.querySelector('time')!.textContent}`),
        ),
      title,
    )

const lesson = {
  title: 'Piano',
  starts_at: '2026-03-02T08:00:00Z',
  ends_at: '2026-03-02T09:00:00Z',
  tzid: 'Europe/Berlin',
  uid: 'piano',
  rrule: 'FREQ=DAILY',
}

const day = (app: Frame, date: string) => app.locator(`.time-day[data-date="2026-${date}"]`)

test('an event repeats every week on two days, in every view, and ends on a day', async () => {
  const { visited, app, page, rows } = await withCalendar()
  await app.getByRole('button', { name: 'New event' }).first().click()
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('Title').fill('Choir')
  await dialog.getByLabel('Begins').fill('2026-03-24T19:00')
  await dialog.getByLabel('Ends', { exact: true }).fill('2026-03-24T20:30')
  await dialog.getByLabel('Repeats').selectOption('Weekly')
  await dialog.getByRole('checkbox', { name: 'Thu' }).check()
  await dialog.getByLabel('Repetition ends').selectOption('On a date')
  await dialog.getByLabel('Last day').fill('2026-04-02')
  expect(await visited.flaws()).toEqual([])
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await expect.poll(() => shown(app, 'Choir')).toEqual(['03-24 19:00–20:30', '03-26 19:00–20:30'])
  await expect.poll(rows).toMatchObject([
    {
      rrule: 'FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20260402T215959Z',
      tzid: 'Europe/Berlin',
      starts_at: '2026-03-24T18:00:00.000Z',
    },
  ])
  // Summer time begins on Sunday: the hour stays the same.
  await app.getByRole('button', { name: 'Next' }).click()
  await expect.poll(() => shown(app, 'Choir')).toEqual(['03-31 19:00–20:30', '04-02 19:00–20:30'])
  await app.getByLabel('View').selectOption('Month')
  await app.getByRole('button', { name: 'Previous' }).click()
  await expect.poll(() => app.locator('.month').getByRole('button', { name: 'Choir' }).count()).toBe(4)
  await app.getByRole('button', { name: 'Next' }).click()
  await app.getByLabel('View').selectOption('List')
  await expect.poll(() => app.locator('.week-list').getByRole('button', { name: 'Choir' }).count()).toBe(2)
  await app.locator('.week-list').getByRole('button', { name: 'Choir' }).first().click()
  await dialog.getByLabel('A change is for').selectOption('All events of the series')
  await dialog.getByLabel('Repeats').waitFor()
  expect(await dialog.getByLabel('Last day').inputValue()).toBe('2026-04-02')
  await dialog.getByLabel('Last day').fill('2026-03-01')
  await dialog.getByText('The last day is before the first.').waitFor()
  await dialog.getByLabel('Repetition ends').selectOption('After a number of times')
  await dialog.getByLabel('Times').fill('3')
  await page.keyboard.press('Escape')
  await expect.poll(rows).toMatchObject([{ rrule: 'FREQ=WEEKLY;BYDAY=TU,TH;COUNT=3' }])
  await expect.poll(() => app.locator('.week-list').getByRole('button', { name: 'Choir' }).count()).toBe(1)
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('one occurrence is changed, moved by keys and deleted, and the others stay', async () => {
  const { visited, app, page, rows } = await withCalendar([lesson])
  await expect.poll(() => shown(app, 'Piano')).toHaveLength(7)
  const dialog = app.getByRole('dialog')
  // Looking at an occurrence stores nothing.
  await day(app, '03-24').getByRole('button', { name: 'Piano' }).click()
  expect(await dialog.getByLabel('Begins').inputValue()).toBe('2026-03-24T09:00')
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await day(app, '03-25').getByRole('button', { name: 'Piano' }).click()
  await dialog.getByLabel('Title').fill('Recital')
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await expect.poll(() => shown(app, 'Recital')).toEqual(['03-25 09:00–10:00'])
  await expect.poll(() => shown(app, 'Piano')).toHaveLength(6)
  await expect
    .poll(rows)
    .toMatchObject([
      { title: 'Piano' },
      { title: 'Recital', uid: 'piano', recurrence_id: '2026-03-25T08:00:00.000Z', rrule: null },
    ])

  const friday = day(app, '03-27').getByRole('button', { name: 'Piano' })
  await friday.focus()
  for (const key of ['Alt+ArrowDown', 'Alt+ArrowDown']) await page.keyboard.press(key)
  await expect.poll(() => friday.evaluate((element) => element.matches(':focus'))).toBe(true)
  await expect.poll(() => shown(app, 'Piano')).toContain('03-27 09:30–10:30')
  await expect.poll(rows).toHaveLength(3)

  // The deleted one does not come back at its original time.
  await page.keyboard.press('Delete')
  await dialog.getByRole('button', { name: 'Only this event' }).click()
  await expect.poll(rows).toMatchObject([{ exdates: ['2026-03-27T08:00:00.000Z'] }, { title: 'Recital' }])
  expect(await shown(app, 'Piano')).toHaveLength(5)
  await app.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(() => shown(app, 'Piano')).toContain('03-27 09:30–10:30')

  // The dialog closes when what it shows is deleted, and what was just written in it goes too.
  await day(app, '03-24').getByRole('button', { name: 'Piano' }).click()
  await dialog.getByLabel('Title').fill('Gone')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Only this event' }).click()
  await expect.poll(() => dialog.count()).toBe(0)
  await expect.poll(() => shown(app, '')).toHaveLength(6)
  await expect.poll(async () => (await rows())[0]!['exdates']).toEqual(['2026-03-24T08:00:00.000Z'])
  await expect.poll(rows).toHaveLength(3)
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('a series without a UID gets one with its first changed occurrence, which stays a part of it', async () => {
  const { visited, app, page, rows, insert } = await withCalendar([{ ...lesson, uid: null }])
  const friday = day(app, '03-27').getByRole('button', { name: 'Piano' })
  await friday.focus()
  await page.keyboard.press('Alt+ArrowDown')
  await expect.poll(() => friday.evaluate((element) => element.matches(':focus'))).toBe(true)
  const uid = expect.stringMatching(/^\d+-\d+@svc$/)
  await expect.poll(rows).toMatchObject([{ uid }, { uid, recurrence_id: '2026-03-27T08:00:00.000Z' }])
  const { id, uid: ownUid } = (await rows())[0]!
  await day(app, '03-24').getByRole('button', { name: 'Piano' }).focus()
  const removeAll = async (): Promise<void> => {
    await page.keyboard.press('Delete')
    await app.getByRole('dialog').getByRole('button', { name: 'All events of the series' }).click()
  }
  await removeAll()
  await expect.poll(rows).toEqual([])
  await app.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(rows).toMatchObject([{ uid: ownUid }, { uid: ownUid }])
  expect((await rows()).map((row) => row['id'])).not.toContain(id)
  await expect.poll(() => shown(app, 'Piano')).toHaveLength(7)
  expect(await shown(app, 'Piano')).toContain('03-27 09:15–10:15')

  // Older rows name the ID of a series, and come back with it.
  const old = { ...lesson, title: 'Choir', starts_at: '2026-03-02T11:00:00Z', ends_at: null, uid: null }
  await insert(old)
  const oldId = (await rows()).at(-1)!['id']
  const times = { starts_at: '2026-03-27T15:00:00Z', recurrence_id: '2026-03-27T11:00:00Z', rrule: null }
  await insert({ ...old, ...times, uid: `${String(oldId)}` })
  await expect.poll(() => shown(app, 'Choir')).toContain('03-27 16:00')
  await expect.poll(() => shown(app, 'Choir')).toHaveLength(7)
  await day(app, '03-24').getByRole('button', { name: 'Choir' }).focus()
  await removeAll()
  await expect.poll(rows).toHaveLength(2)
  await app.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(rows).toHaveLength(4)
  await expect.poll(() => shown(app, 'Choir')).toHaveLength(7)
  expect(await shown(app, 'Choir')).toContain('03-27 16:00')
  expectQuiet(visited)
})

test('an event with additional dates and without a rule takes place on each of them', async () => {
  const rdates = ['2026-03-25T08:00:00Z', '2026-03-26T08:00:00Z', '2026-03-28T08:00:00Z']
  const { visited, app, page, rows } = await withCalendar([
    { ...lesson, starts_at: '2026-03-23T08:00:00Z', ends_at: '2026-03-23T09:00:00Z', rrule: null, rdates },
  ])
  const days = (...dates: string[]): string[] => dates.map((date) => `${date} 09:00–10:00`)
  await expect.poll(() => shown(app, 'Piano')).toEqual(days('03-23', '03-25', '03-26', '03-28'))
  const dialog = app.getByRole('dialog')
  await day(app, '03-25').getByRole('button', { name: 'Piano' }).click()
  await dialog.getByLabel('A change is for').selectOption('All events of the series')
  await expect.poll(() => dialog.getByLabel('Repeats').locator('option:checked').textContent()).toBe('On 3 more dates')
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  const remove = async (date: string, scope: string): Promise<void> => {
    await day(app, date).getByRole('button', { name: 'Piano' }).focus()
    await page.keyboard.press('Delete')
    await dialog.getByRole('button', { name: scope }).click()
  }
  await remove('03-23', 'Only this event')
  await expect.poll(() => shown(app, 'Piano')).toEqual(days('03-25', '03-26', '03-28'))
  await remove('03-26', 'This and all following')
  await expect.poll(() => shown(app, 'Piano')).toEqual(days('03-25'))
  await expect.poll(rows).toMatchObject([{ rrule: null, rdates: ['2026-03-25T08:00:00Z'] }])
  await app.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(() => shown(app, 'Piano')).toEqual(days('03-25', '03-26', '03-28'))
  expectQuiet(visited)
})

/** The parts of a series and its changed occurrence, once all three are stored. */
async function divided(rows: () => Promise<Record<string, unknown>[]>) {
  await expect.poll(async () => (await rows())[0]!['rrule']).toContain('UNTIL')
  await expect.poll(async () => (await rows())[1]!['recurrence_id']).toBe('2026-03-29T08:00:00.000Z')
  return rows()
}

test('this and all following are moved with the mouse, and everything goes back', async () => {
  const { visited, app, page, rows } = await withCalendar([
    { ...lesson, rrule: 'FREQ=DAILY;COUNT=30', exdates: ['2026-03-28T08:00:00Z'] },
    { title: 'Recital', starts_at: '2026-03-29T10:00:00Z', uid: 'piano', recurrence_id: '2026-03-29T07:00:00Z' },
  ])
  const before = await rows()
  await expect.poll(() => shown(app, 'Piano')).toHaveLength(5)
  const chip = day(app, '03-26').getByRole('button', { name: 'Piano' })
  const box = (await chip.boundingBox())!
  const column = (await day(app, '03-26').boundingBox())!
  const from = { x: box.x + box.width / 2, y: box.y + 8 }
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move(from.x, from.y + 20)
  await page.mouse.move(from.x, from.y + column.height / 24)
  await page.mouse.up()
  const dialog = app.getByRole('dialog')
  expect(await visited.flaws()).toEqual([])
  await dialog.getByRole('button', { name: 'This and all following' }).click()
  await expect
    .poll(() => shown(app, 'Piano'))
    .toEqual(['03-23 09:00–10:00', '03-24 09:00–10:00', '03-25 09:00–10:00', '03-26 10:00–11:00', '03-27 10:00–11:00'])
  await expect.poll(() => rows()).toHaveLength(3)
  const [first, recital, rest] = await divided(rows)
  expect(first).toMatchObject({ rrule: 'FREQ=DAILY;UNTIL=20260326T075959Z', exdates: [] })
  // 24 of the 30 are before.
  expect(rest).toMatchObject({
    rrule: 'FREQ=DAILY;COUNT=6',
    starts_at: '2026-03-26T09:00:00.000Z',
    exdates: ['2026-03-28T09:00:00.000Z'],
  })
  expect(recital).toMatchObject({ uid: rest!['uid'], recurrence_id: '2026-03-29T08:00:00.000Z' })
  await app.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(() => rows()).toHaveLength(2)
  const fields = (row: Record<string, unknown>) => [row['title'], row['rrule'], row['uid'], row['starts_at']]
  await expect.poll(async () => (await rows()).map(fields)).toEqual(before.map(fields))
  await expect.poll(() => shown(app, 'Piano')).toHaveLength(5)
  expectQuiet(visited)
})

test('all of a series are changed, and deleted with what was changed in it', async () => {
  const { visited, app, page, rows } = await withCalendar([
    { ...lesson, exdates: ['2026-03-26T08:00:00Z'] },
    { title: 'Recital', starts_at: '2026-03-25T10:00:00Z', uid: 'piano', recurrence_id: '2026-03-25T08:00:00Z' },
    { title: 'Other', starts_at: '2026-03-25T12:00:00Z' },
  ])
  await expect.poll(() => shown(app, 'Piano')).toHaveLength(5)
  const dialog = app.getByRole('dialog')
  await day(app, '03-27').getByRole('button', { name: 'Piano' }).click()
  await dialog.getByLabel('A change is for').selectOption('All events of the series')
  await dialog.getByLabel('Title').fill('Flute')
  await dialog.getByLabel('Begins').fill('2026-03-02T10:00')
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await expect
    .poll(() => shown(app, 'Flute'))
    .toEqual(['03-23 10:00–11:00', '03-24 10:00–11:00', '03-27 10:00–11:00', '03-28 10:00–11:00', '03-29 10:00–11:00'])
  await expect
    .poll(rows)
    .toMatchObject([
      { exdates: ['2026-03-26T09:00:00.000Z'] },
      { recurrence_id: '2026-03-25T09:00:00.000Z' },
      { title: 'Other' },
    ])
  await day(app, '03-27').getByRole('button', { name: 'Flute' }).focus()
  await page.keyboard.press('Delete')
  await dialog.getByRole('button', { name: 'All events of the series' }).click()
  await expect.poll(rows).toMatchObject([{ title: 'Other' }])
  await app.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(() => shown(app, 'Flute')).toHaveLength(5)
  await expect.poll(rows).toHaveLength(3)
  expectQuiet(visited)
})

test('choosing what a change is for stores nothing, and the first change divides the series once', async () => {
  const { visited, app, rows } = await withCalendar([
    lesson,
    { title: 'Recital', starts_at: '2026-03-29T10:00:00Z', uid: 'piano', recurrence_id: '2026-03-29T07:00:00Z' },
  ])
  await expect.poll(() => shown(app, 'Piano')).toHaveLength(6)
  const before = await rows()
  const dialog = app.getByRole('dialog')
  const scope = dialog.getByLabel('A change is for')
  const begins = dialog.getByLabel('Begins')
  await day(app, '03-26').getByRole('button', { name: 'Piano' }).click()
  const choose = async (name: string, start: string) => {
    await scope.selectOption(name)
    await expect.poll(() => begins.inputValue()).toBe(start)
  }
  const chooseAll = () => choose('All events of the series', '2026-03-02T09:00')
  const chooseFollowing = async () => {
    await scope.selectOption('This and all following')
    // The rest of the series has a rule of its own; one occurrence has none.
    await dialog.getByLabel('Repeats').waitFor()
    await expect.poll(() => begins.inputValue()).toBe('2026-03-26T09:00')
  }
  await chooseFollowing()
  await chooseAll()
  await chooseFollowing()
  await choose('Only this event', '2026-03-26T09:00')
  await chooseFollowing()
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await expect.poll(() => dialog.count()).toBe(0)
  expect(await rows()).toEqual(before)
  expect(await shown(app, 'Piano')).toHaveLength(6)

  await day(app, '03-26').getByRole('button', { name: 'Piano' }).click()
  await chooseFollowing()
  await chooseAll()
  await chooseFollowing()
  await begins.fill('2026-03-26T10:00')
  // The change is for the events that were chosen.
  expect(await scope.isDisabled()).toBe(true)
  expect(await visited.flaws()).toEqual([])
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await expect
    .poll(() => shown(app, ''))
    .toEqual([
      ...['23', '24', '25'].map((date) => `03-${date} 09:00–10:00`),
      ...['26', '27', '28'].map((date) => `03-${date} 10:00–11:00`),
      '03-29 12:00',
    ])
  await expect.poll(rows).toHaveLength(3)
  const [first, recital, rest] = await divided(rows)
  expect(first).toMatchObject({ rrule: 'FREQ=DAILY;UNTIL=20260326T075959Z', uid: 'piano' })
  expect(rest).toMatchObject({ rrule: 'FREQ=DAILY', starts_at: '2026-03-26T09:00:00.000Z' })
  expect(recital).toMatchObject({ uid: rest!['uid'], recurrence_id: '2026-03-29T08:00:00.000Z' })

  await day(app, '03-24').getByRole('button', { name: 'Piano' }).click()
  await chooseAll()
  expect(await dialog.getByLabel('Last day').inputValue()).toBe('2026-03-25')
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await expect.poll(() => dialog.count()).toBe(0)

  // What is deleted in the dialog is what it shows, also after its series was moved.
  await day(app, '03-27').getByRole('button', { name: 'Piano' }).click()
  await choose('All events of the series', '2026-03-26T10:00')
  await begins.fill('2026-03-26T11:00')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Only this event' }).click()
  await expect
    .poll(() => shown(app, 'Piano'))
    .toEqual([
      ...['23', '24', '25'].map((date) => `03-${date} 09:00–10:00`),
      ...['26', '28'].map((date) => `03-${date} 11:00–12:00`),
    ])
  expectQuiet(visited)
})

test('rules that take minutes or are no rules leave the calendar usable, and the others repeat', async () => {
  const hostile = { ...lesson, starts_at: '2016-03-25T10:00:00Z', ends_at: null }
  const { visited, app, page, rows } = await withCalendar([
    {
      ...hostile,
      uid: 'a',
      title: 'Endless',
      rrule: 'FREQ=DAILY;COUNT=1000000;BYDAY=MO',
      starts_at: '2016-03-25T10:00:00Z',
    },
    { ...hostile, uid: 'b', title: 'Nonsense', rrule: 'FREQ=SOMETIMES;<b>', starts_at: '2026-03-25T10:00:00Z' },
    {
      ...hostile,
      uid: 'c',
      title: 'Nowhere',
      rrule: 'FREQ=DAILY',
      tzid: 'Nowhere/City',
      rdates: ['never'],
      exdates: [''],
    },
    { ...lesson, uid: 'd', title: 'Twice a day', rrule: 'FREQ=HOURLY;INTERVAL=12' },
    lesson,
  ])
  await expect.poll(() => shown(app, 'Piano'), { timeout: 30_000 }).toHaveLength(7)
  await expect.poll(() => shown(app, 'Nowhere')).toHaveLength(7)
  await expect.poll(() => shown(app, 'Twice a day')).toHaveLength(14)
  expect(await shown(app, 'Nonsense')).toHaveLength(1)
  await day(app, '03-25').getByRole('button', { name: 'Nonsense' }).click()
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('A change is for').selectOption('All events of the series')
  await dialog.getByText('This rule cannot be calculated').waitFor()
  expect(await visited.flaws()).toEqual([])
  // Another title leaves the rule as it is.
  await dialog.getByLabel('Title').fill('Sense')
  await page.keyboard.press('Escape')
  await expect.poll(rows).toMatchObject([{}, { title: 'Sense', rrule: 'FREQ=SOMETIMES;<b>' }, {}, {}, {}])
  expectQuiet(visited)
})

test('whole days repeat on their dates in every zone, in German too', async () => {
  const birthday = { title: 'Ada', all_day: true, starts_at: '1990-03-26T00:00:00Z', ends_at: '1990-03-27T00:00:00Z' }
  const person = await world.person()
  const { sync } = world.server.local.domain
  const operations = [{ table: 'svc_events', operation: 'INSERT', data: { ...birthday, rrule: 'FREQ=YEARLY' } }]
  await sync.push(person.id, { operations } as never, undefined)
  const visited = await world.enter(person, { timezoneId: 'America/Los_Angeles', locale: 'de-DE' })
  await visited.page.clock.setFixedTime(new Date('2026-03-25T12:00:00Z'))
  await visited.page.keyboard.press('Control+k')
  await visited.page.getByRole('searchbox').fill('Kalender')
  await visited.page.keyboard.press('Enter')
  const app = await visited.app('calendar')
  const bar = app.locator('td[data-date="2026-03-26"]').getByRole('button', { name: 'Ada' })
  await visited.page.keyboard.press('Control+Alt+ArrowUp')
  await app.getByLabel('Ansicht').selectOption('Monat')
  await bar.click()
  const dialog = app.getByRole('dialog')
  expect(await dialog.getByLabel('Beginn').inputValue()).toBe('2026-03-26')
  await dialog.getByLabel('Die Änderung gilt für').selectOption('Alle Termine der Serie')
  expect(await dialog.getByLabel('Beginn').inputValue()).toBe('1990-03-26')
  expect(await dialog.getByLabel('Wiederholung', { exact: true }).locator('option:checked').textContent()).toBe(
    'Jährlich',
  )
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})
