import { readFileSync } from 'node:fs'
import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const LONG_WORD = 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz'
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>'

/** Somebody with the app open, and the rows of its table as the database has them. */
async function withApp(slug: string, name: string, table: string, options = {}) {
  const person = await world.person()
  const visited = await world.enter(person, options)
  const app = await visited.open(slug, name)
  return { person, visited, app, ...rowsOf(person, table) }
}

function rowsOf({ id }: Person, table: string) {
  const { sync } = world.server.local.domain
  const push = async (operation: string, data: object): Promise<void> => {
    const { results } = await sync.push(id, { operations: [{ table, operation, data }] } as never, undefined)
    expect(results).toMatchObject([{ status: 'applied' }])
  }
  return {
    rows: async () =>
      (await rowsAndCursorOf(sync, id, [table as 'svc_notes'])).data[table as 'svc_notes'] as unknown as {
        id: number
      }[],
    insert: (data: object) => push('INSERT', data),
    update: (data: object) => push('UPDATE', data),
    remove: (row: number) => push('DELETE', { id: row }),
  }
}

/** Nothing of what somebody wrote became a part of the page, and everybody can use it. */
async function expectSound(visited: DesktopPage, app: Frame): Promise<void> {
  expect(await app.locator('img:not(.cm-widgetBuffer), script:not([src])').count()).toBe(0)
  expect(await app.evaluate('document.title')).not.toBe('1')
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
}

const saved = (app: Frame) => app.getByText('Saved', { exact: true }).waitFor()

test('tasks are added, sorted by what is due, edited and ticked off', async () => {
  const { visited, app, rows, insert } = await withApp('tasks', 'Tasks', 'svc_tasks')
  await app.getByText('No tasks').waitFor()
  await app.getByLabel('Add a task').fill(`Tea ${HOSTILE}`)
  await app.getByRole('button', { name: 'Add' }).click()
  await app.getByRole('heading', { name: 'Without a date 1' }).waitFor()
  await expect.poll(rows).toMatchObject([{ title: `Tea ${HOSTILE}`, due_on: null, done: false }])

  await insert({ title: 'Rent', due_on: '2020-01-31', priority: 9 })
  await app.locator('.group-overdue').getByText('Rent').waitFor()
  await visited.page.getByRole('heading', { name: 'Overdue: 1 – Tasks' }).waitFor()

  await app.getByRole('button', { name: `Tea ${HOSTILE}`, exact: true }).click()
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('Due on').fill('2999-12-24')
  await dialog.getByLabel('Priority').selectOption('High')
  await dialog.getByLabel('Note').fill(HOSTILE)
  await saved(app)
  await expectSound(visited, app)
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await app.getByRole('heading', { name: 'Later 1' }).waitFor()

  await app.getByRole('checkbox', { name: 'Done: Rent' }).click()
  await expect.poll(rows).toMatchObject([
    { title: `Tea ${HOSTILE}`, due_on: '2999-12-24', priority: 9, note: HOSTILE },
    { title: 'Rent', done: true, done_at: expect.stringMatching(/Z$/) },
  ])
  await expectSound(visited, app)
})

test('a change made elsewhere while writing is asked about, and shown', async () => {
  const person = await world.person()
  const { rows, insert, update } = rowsOf(person, 'svc_contacts')
  await insert({ name: 'Ada', phone: '1' })
  const visited = await world.visit()
  // As on a bad line, the page does not hear of the other change before it saves.
  let isCut = false
  await visited.page.route('**/api/rows.php?action=delta*', async (route) => {
    const answer = await route.fetch().catch(() => undefined)
    if (isCut || !answer) await route.abort()
    else await route.fulfill({ response: answer })
  })
  await visited.login(person.username)
  await visited.page.getByRole('navigation', { name: 'Dock' }).waitFor()
  const app = await visited.open('contacts', 'Contacts')
  await app.getByRole('option', { name: /Ada/ }).click()
  isCut = true
  const [{ id } = { id: 0 }] = await rows()
  await update({ id, phone: HOSTILE.slice(0, 60) })
  await app.getByLabel('Phone', { exact: true }).fill('3')
  await app.getByText('This entry was changed elsewhere').waitFor()
  await app.getByRole('button', { name: 'Show the other version' }).click()
  await app.getByText(HOSTILE.slice(0, 60)).waitFor()
  expect(await rows()).toMatchObject([{ phone: HOSTILE.slice(0, 60) }])
  await expectSound(visited, app)
  await app.getByRole('button', { name: 'Keep my version' }).click()
  await saved(app)
  expect(await rows()).toMatchObject([{ name: 'Ada', phone: '3' }])
})

test('contacts are written, found, reached, and come back when deleted', async () => {
  const { visited, app, rows, insert } = await withApp('contacts', 'Contacts', 'svc_contacts')
  await app.getByRole('button', { name: 'New contact' }).first().click()
  await app.getByLabel('Company').fill('Navy')
  expect(await rows()).toEqual([])
  await app.getByLabel('Name', { exact: true }).pressSequentially('Grace', { delay: 10 })
  await saved(app)
  // Saving leaves who is writing where they were.
  await visited.page.keyboard.type(` ${HOSTILE}`)
  await app.getByLabel('E-mail', { exact: true }).fill('not one')
  await app.getByText('Enter a valid e-mail address.').waitFor()
  await app.getByLabel('E-mail', { exact: true }).fill('grace@example.org')
  await app.getByLabel('Phone', { exact: true }).fill('+1 (202) 555')
  await expect
    .poll(rows)
    .toMatchObject([{ name: `Grace ${HOSTILE}`, email: 'grace@example.org', phone: '+1 (202) 555', company: 'Navy' }])
  expect(await app.getByRole('link', { name: 'Write an e-mail' }).getAttribute('href')).toBe('mailto:grace@example.org')
  expect(await app.getByRole('link', { name: 'Call' }).getAttribute('href')).toBe('tel:+1202555')
  await expectSound(visited, app)

  await insert({ name: 'Ada', email: 'x@y?bcc=z@w' })
  await app.getByRole('option', { name: /Ada/ }).click()
  expect(await app.getByRole('link', { name: 'Write an e-mail' }).count()).toBe(0)
  await app.getByRole('searchbox').fill('nav gra')
  await expect.poll(() => app.getByRole('option').count()).toBe(1)
  await app.getByRole('option', { name: /Grace/ }).click()
  await app.getByRole('button', { name: 'Delete' }).click()
  await app.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await app.getByText('Nothing found').waitFor()
  await app.getByRole('button', { name: 'Undo' }).click()
  await app.getByRole('option', { name: /Grace/ }).waitFor()
  expect(await rows()).toMatchObject([{ name: 'Ada' }, { name: `Grace ${HOSTILE}`, phone: '+1 (202) 555' }])
})

test('what is deleted elsewhere while it is open says so, and is saved as a new entry with all that it had', async () => {
  const { app, rows, insert, remove } = await withApp('bookmarks', 'Bookmarks', 'svc_bookmarks')
  await insert({ title: 'Tea', url: 'https://example.org/tea', folder: 'Drinks' })
  await app.getByRole('button', { name: 'Edit: Tea' }).click()
  const dialog = app.getByRole('dialog')
  await dialog.getByText('Saved', { exact: true }).waitFor()
  await remove((await rows())[0]!.id)
  await dialog.getByText('This entry was deleted elsewhere').waitFor()
  await dialog.getByLabel('Folder').fill('Cups')
  await dialog.getByRole('button', { name: 'Save as a new entry' }).click()
  await dialog.getByText('Saved', { exact: true }).waitFor()
  expect(await rows()).toMatchObject([{ title: 'Tea', url: 'https://example.org/tea', folder: 'Cups' }])
  // Closed without a change, it is gone.
  await remove((await rows())[0]!.id)
  await dialog.getByText('This entry was deleted elsewhere').waitFor()
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await expect.poll(() => app.locator('.bookmark').count()).toBe(0)
  expect(await rows()).toEqual([])
})

test('bookmarks open pages of the web and nothing else, and are sorted into folders', async () => {
  const { visited, app, rows, insert } = await withApp('bookmarks', 'Bookmarks', 'svc_bookmarks')
  await insert({ title: `Bad ${HOSTILE}`, url: 'javascript:alert(1)', folder: 'Odd' })
  await app.getByText('This is not a web address').waitFor()
  expect(await app.getByRole('link').count()).toBe(0)
  await app.getByRole('button', { name: 'New bookmark' }).click()
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('Address').fill('data:text/html,x')
  await dialog.getByText('Enter an address that begins with').waitFor()
  await dialog.getByLabel('Address').fill('https://example.org/tea?x=1')
  await dialog.getByLabel('Title').fill(HOSTILE)
  await dialog.getByLabel('Folder').fill('Drinks')
  await saved(app)
  await expectSound(visited, app)
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  const link = app.getByRole('link', { name: HOSTILE })
  expect(await link.getAttribute('rel')).toContain('noopener')
  await visited.context.route('https://example.org/**', (route) => route.fulfill({ body: 'tea' }))
  const [page] = await Promise.all([visited.context.waitForEvent('page'), link.click()])
  await page.waitForURL('https://example.org/tea?x=1')
  expect(await page.evaluate('opener')).toBeNull()
  await app.getByRole('button', { name: 'Drinks 1' }).click()
  expect(await app.locator('.bookmark').count()).toBe(1)
  expect(await rows()).toMatchObject([{ folder: 'Odd' }, { title: HOSTILE, folder: 'Drinks' }])
  for (const title of ['Tea 10', 'Tea 2']) await insert({ title, url: 'https://example.org', folder: 'Drinks' })
  await expect.poll(() => app.locator('.bookmark strong').allTextContents()).toEqual([HOSTILE, 'Tea 2', 'Tea 10'])
})

test('documents are written as formatted text, filed, tagged and archived', async () => {
  const { visited, app, rows } = await withApp('docs', 'Docs', 'svc_docs')
  await visited.page.keyboard.press('Control+Alt+ArrowUp')
  await app.getByRole('button', { name: 'New document' }).first().click()
  await app.getByRole('textbox', { name: 'Text of the document' }).fill(`# Tea\n\n${HOSTILE}[x](javascript:alert(1))`)
  await app.getByRole('button', { name: 'Markdown beside the preview' }).click()
  await app.locator('.markdown').getByRole('heading', { name: 'Tea', exact: true }).waitFor()
  await app.getByRole('button', { name: 'Edit' }).click()
  await app.getByRole('textbox', { name: 'Title' }).fill(HOSTILE)
  await app.locator('.editor').getByRole('heading', { name: 'Tea', exact: true }).waitFor()
  await app.getByLabel('Folder').fill('Drinks')
  await app.getByLabel('Tags').fill('hot, black,hot')
  await saved(app)
  expect(await rows()).toMatchObject([{ title: HOSTILE, folder: 'Drinks', tags: ['hot', 'black'], archived: false }])
  expect(await app.locator('.markdown a[href^=javascript]').count()).toBe(0)
  expect(await app.locator('img:not(.cm-widgetBuffer), script:not([src])').count()).toBe(0)
  // The browser says of a handler in Markdown that it was not run.
  expect(visited.complaints.filter((text) => !/inline event handler .* blocked[.]/.test(text))).toEqual([])
  expect(await visited.flaws()).toEqual([])
  await app.getByLabel('Filter').selectOption('Tag: black')
  expect(await app.getByRole('option', { name: /#black/ }).count()).toBeGreaterThan(0)
  await app.getByRole('button', { name: 'Move to the archive' }).click()
  await saved(app)
  await app.getByText('Nothing found').waitFor()
  await app.getByLabel('Filter').selectOption('Archive')
  await app.getByRole('option', { name: /#hot/ }).waitFor()
  expect(await rows()).toMatchObject([{ archived: true }])
})

test('the calendar keeps moments in every time zone, and whole days on their day', async () => {
  const options = { timezoneId: 'America/New_York' }
  const { visited, app, rows, insert } = await withApp('calendar', 'Calendar', 'svc_events', options)
  await visited.page.keyboard.press('Control+Alt+ArrowUp')
  await app.getByRole('button', { name: 'New event' }).first().click()
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('Title').fill(`Tea ${HOSTILE}`)
  await dialog.getByLabel('Begins').fill('2027-03-14T01:30')
  await dialog.getByLabel('Ends').fill('2027-03-14T03:30')
  await dialog.getByLabel('Location').fill(HOSTILE)
  await saved(app)
  // The clock of New York jumps from 2 to 3 that night.
  await expect
    .poll(rows)
    .toMatchObject([{ starts_at: '2027-03-14T06:30:00.000Z', ends_at: '2027-03-14T07:30:00.000Z' }])
  await dialog.getByLabel('Ends').fill('2027-03-13T03:30')
  await dialog.getByText('The end is before the beginning.').waitFor()
  await dialog.getByLabel('Ends').fill('2027-03-14T03:30')
  await dialog.getByRole('switch', { name: 'All day' }).click()
  await saved(app)
  await expect
    .poll(rows)
    .toMatchObject([{ all_day: true, starts_at: '2027-03-14T00:00:00Z', ends_at: '2027-03-15T00:00:00Z' }])
  await expectSound(visited, app)
  await dialog.getByRole('button', { name: 'Save and close' }).click()

  const today = await app.evaluate<string>(`new Intl.DateTimeFormat('sv').format(new Date())`)
  await insert({ title: 'Whole day', all_day: true, starts_at: `${today}T00:00:00Z` })
  const cell = app.locator('td.is-today')
  await cell.getByRole('button', { name: 'Whole day' }).waitFor()
  await cell.getByRole('button').first().focus()
  await visited.page.keyboard.press('ArrowRight')
  await visited.page.keyboard.press('Enter')
  await dialog.getByLabel('Title').fill('By keys')
  await saved(app)
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await app.getByLabel('View').selectOption('Week')
  await app
    .getByRole('button', { name: /Whole day|By keys/ })
    .first()
    .waitFor()
  await expectSound(visited, app)

  await app.getByLabel('View').selectOption('Month')
  for (const title of ['Second', 'Third', 'Fourth', LONG_WORD])
    await insert({ title, all_day: true, starts_at: `${today}T00:00:00Z` })
  await cell.getByRole('button', { name: '3 more' }).click()
  for (const title of ['Whole day', 'Second', 'Third', 'Fourth', LONG_WORD])
    await app.locator('.all-day').getByRole('button', { name: title }).waitFor()
  expect(await app.locator('.time-view').evaluate((view) => view.scrollWidth - view.clientWidth)).toBe(0)
})

test('finance adds up to the cent, filters by month, and saves what it shows as CSV', async () => {
  const { visited, app, rows, insert } = await withApp('finance', 'Finance', 'svc_finance')
  await visited.page.keyboard.press('Control+Alt+ArrowUp')
  const one = { currency: 'EUR', booked_on: '2026-10-31', kind: 'income' }
  await insert({ ...one, amount_cents: 10, description: '=HYPERLINK("http://x")' })
  await insert({ ...one, amount_cents: 20, description: 'Small' })
  await insert({ ...one, amount_cents: 900_000_000_000_001, currency: 'CHF', booked_on: '2026-09-01' })
  await expect.poll(() => app.locator('.transaction').count()).toBe(3)
  await app.getByRole('button', { name: 'New transaction' }).click()
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('Amount').fill('1,5,0')
  await dialog.getByText('Enter an amount with at most two decimal places').waitFor()
  expect(await rows()).toHaveLength(3)
  await dialog.getByLabel('Amount').fill('1,234.05')
  await dialog.getByLabel('Currency').fill('euro')
  await dialog.getByText('The format is not valid.').waitFor()
  await dialog.getByLabel('Currency').fill('EUR')
  await dialog.getByLabel('Date').fill('2026-10-01')
  await dialog.getByLabel('Description').fill(HOSTILE)
  await dialog.getByLabel('Category').fill(HOSTILE)
  await saved(app)
  await expect
    .poll(async () => (await rows()).at(-1))
    .toMatchObject({
      kind: 'expense',
      amount_cents: 123_405,
      currency: 'EUR',
      booked_on: '2026-10-01',
      description: HOSTILE,
    })
  await expectSound(visited, app)
  await visited.page.setViewportSize({ width: 1_000, height: 560 })
  const done = dialog.getByRole('button', { name: 'Save and close' })
  const isInSight = (): Promise<boolean> =>
    done.evaluate((it) => it.getBoundingClientRect().bottom < it.ownerDocument.defaultView!.innerHeight)
  await expect.poll(isInSight).toBe(true)
  await visited.page.setViewportSize({ width: 700, height: 900 })
  await expect.poll(() => app.locator('thead').getByText('Account').isVisible()).toBe(false)
  await visited.page.setViewportSize({ width: 1_280, height: 800 })
  await done.click()
  await app.locator('.totals').getByText('€0.30').waitFor()
  await app.locator('.totals').getByText('-€1,233.75').waitFor()
  await app.locator('.totals').getByText('9,000,000,000,000.01').first().waitFor()
  await app.getByLabel('Month').selectOption('2026-10')
  await expect.poll(() => app.locator('.transaction').count()).toBe(3)
  await expectSound(visited, app)
  const [download] = await Promise.all([
    visited.page.waitForEvent('download'),
    app.getByRole('button', { name: 'Save as CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('finance-2026-10.csv')
  const text = readFileSync(await download.path(), 'utf8')
  expect(text.split('\n')).toHaveLength(5)
  expect(text).toContain('income,0.10,EUR,,"\'=HYPERLINK(""http://x"")"')
  expect(text).toContain('2026-10-01,expense,1234.05,EUR')
})

test('places are kept within the bounds of the world, and reached on the map by keys', async () => {
  const { visited, app, rows, insert, remove } = await withApp('places', 'Places', 'svc_places')
  const asked: string[] = []
  visited.page.on('request', (request) => asked.push(request.url()))
  await app.getByRole('button', { name: 'New place' }).first().click()
  await app.getByLabel('Latitude').fill('91')
  await app.getByText('Enter a number from -90 to 90.').waitFor()
  await app.getByLabel('Latitude').fill('-33,86')
  await app.getByLabel('Longitude').fill('151.2')
  await app.getByLabel('Name', { exact: true }).fill(HOSTILE)
  await app.getByLabel('Address').fill(HOSTILE)
  await saved(app)
  await app.getByText('33.86° S, 151.2° E').waitFor()
  await expect.poll(rows).toMatchObject([{ name: HOSTILE, latitude: -33.86, longitude: 151.2, address: HOSTILE }])
  await expectSound(visited, app)
  await insert({ name: 'Quito', latitude: -0.18, longitude: -78.47 })
  const marker = app.getByRole('button', { name: 'Quito' })
  await marker.focus()
  await visited.page.keyboard.press('Enter')
  await expect.poll(() => app.getByLabel('Name', { exact: true }).inputValue()).toBe('Quito')
  await app.getByRole('group', { name: /World map/ }).focus()
  for (const key of ['+', '+', '+', 'ArrowRight', 'ArrowRight', 'ArrowRight']) await visited.page.keyboard.press(key)
  await expect.poll(() => marker.count()).toBe(0)
  await visited.page.keyboard.press('Home')
  await marker.waitFor()
  await expectSound(visited, app)
  await remove((await rows())[1]!.id)
  await app.getByText('This entry was deleted elsewhere').waitFor()
  await app.getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => marker.count()).toBe(0)
  expect(asked.filter((url) => !url.startsWith(world.server.url))).toEqual([])
})
