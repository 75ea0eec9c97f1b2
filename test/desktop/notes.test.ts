import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>[x](javascript:alert(1))'

/** The rows of somebody, as the database has them. */
const notesOf = async (user: number) =>
  (await rowsAndCursorOf(world.server.local.domain.sync, user, ['svc_notes'])).data['svc_notes'] as {
    id: number
    title: string
    content: string
    version: number
  }[]

const change = (user: number, operation: object) =>
  world.server.local.domain.sync.push(user, { operations: [operation] } as never, undefined)

/** Holds the answer to the next request of an address back. */
async function holdAnswer(page: Page, url: string) {
  let [onDue, answer] = [() => {}, () => {}]
  const isDue = new Promise<void>((resolve) => (onDue = resolve))
  const isReleased = new Promise<void>((resolve) => (answer = resolve))
  const hold = async (route: Route) => {
    const response = await route.fetch()
    onDue()
    await isReleased
    await route.fulfill({ response })
  }
  await page.route(url, hold, { times: 1 })
  return { isDue, answer }
}

test('what is written is saved by itself, shown without running anything, and there after a reload', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const { page } = visited
  const notes = await visited.open('notes', 'Notes')
  await notes.getByRole('button', { name: 'New note' }).first().click()
  await notes.getByRole('textbox', { name: 'Title' }).fill(`Tea ${HOSTILE}`)
  await notes.getByRole('textbox', { name: 'Text of the note' }).fill(`# Earl Grey\n\n${HOSTILE}`)
  await notes.getByText('Saved', { exact: true }).waitFor()
  expect(await notesOf(person.id)).toMatchObject([{ title: `Tea ${HOSTILE}`, content: `# Earl Grey\n\n${HOSTILE}` }])
  expectQuiet(visited)

  await notes.getByRole('textbox', { name: 'Title' }).focus()
  await notes.locator('.heading-1', { hasText: /^Earl Grey$/ }).waitFor()
  expect(await notes.locator('.editor :is(img[src=x], script, a[href^=javascript])').count()).toBe(0)
  expect(await notes.title()).toBe('notes')
  await page.getByRole('heading', { name: `Tea ${HOSTILE}` }).waitFor()
  expect(await visited.flaws()).toEqual([])

  await page.reload()
  const again = await visited.app('notes')
  await again.getByRole('option', { name: /^Tea/ }).waitFor()
  expect(await notesOf(person.id)).toHaveLength(1)
})

test('a new note is typed on while it is saved for the first time', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const { keyboard } = visited.page
  const notes = await visited.open('notes', 'Notes')
  await notes.getByRole('button', { name: 'New note' }).first().click()
  const title = notes.getByRole('textbox', { name: 'Title' })
  await expect.poll(() => title.evaluate((field) => field.matches(':focus'))).toBe(true)
  await keyboard.type('Te')
  await expect.poll(() => notesOf(person.id)).toMatchObject([{ title: 'Te' }])
  await notes.getByText('Saved', { exact: true }).waitFor()
  await keyboard.type('a')
  await expect.poll(() => notesOf(person.id)).toMatchObject([{ title: 'Tea' }])

  await notes.getByRole('button', { name: 'New note' }).first().click()
  const text = notes.getByRole('textbox', { name: 'Text of the note' })
  await text.click()
  await keyboard.type('Earl  tea')
  for (let steps = 0; steps < 4; steps++) await keyboard.press('ArrowLeft')
  await expect.poll(() => notesOf(person.id)).toHaveLength(2)
  await notes.getByText('Saved', { exact: true }).waitFor()
  await keyboard.type('Grey')
  await expect.poll(async () => (await notesOf(person.id)).map(({ content }) => content)).toContain('Earl Grey tea')
  expectQuiet(visited)
})

test('a new note that the server refused is saved once it is corrected', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  await visited.page.route('**/api/rows.php?action=push', async (route) => {
    const sent = route.request().postDataJSON() as { operations: { data: { title: string } }[] }
    if (sent.operations[0]!.data.title !== 'Too long') return route.continue()
    sent.operations[0]!.data.title = 'x'.repeat(1_000)
    return route.fulfill({ response: await route.fetch({ postData: sent }) })
  })
  const notes = await visited.open('notes', 'Notes')
  await notes.getByRole('button', { name: 'New note' }).first().click()
  await notes.getByRole('textbox', { name: 'Title' }).fill('Too long')
  await notes.locator('.banner.bad').waitFor()
  await notes.getByRole('textbox', { name: 'Title' }).fill('Short')
  await notes.getByText('Saved', { exact: true }).waitFor()
  expect(await notesOf(person.id)).toMatchObject([{ title: 'Short' }])
})

test('every tab keeps its own drafts during an outage, and those of a closed tab are saved by the next one', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const { context } = visited
  const isPush = (url: URL) => url.searchParams.get('action') === 'push'
  await context.route(isPush, (route) => route.abort())
  const pages = [visited.page, await context.newPage(), await context.newPage()]
  const sent = pages.map((page) => {
    const titles = new Set<string>()
    page.on('request', (request) => {
      if (isPush(new URL(request.url())))
        titles.add((request.postDataJSON() as { operations: [{ data: { title: string } }] }).operations[0].data.title)
    })
    return titles
  })
  const openNotes = async (page: Page) => {
    await page.goto('/')
    await page.getByRole('navigation', { name: 'Dock' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox', { name: 'Search everything' }).fill('Notes')
    await page.keyboard.press('Enter')
    return page.frameLocator('iframe[data-app="notes"]').last()
  }
  const [first, second, third] = pages as [Page, Page, Page]
  for (const [page, title] of [
    [first, 'Of the first tab'],
    [second, 'Of the second tab'],
  ] as const) {
    const notes = await openNotes(page)
    await notes.getByRole('button', { name: 'New note' }).first().click()
    await notes.getByRole('textbox', { name: 'Title' }).fill(title)
    await expect.poll(() => page.evaluate('JSON.stringify(localStorage)')).toContain(title)
  }
  await first.close()
  const notes = await openNotes(third)
  await notes.getByRole('option', { name: /Of the first tab/ }).waitFor()
  await context.unroute(isPush)
  const titles = async () => (await notesOf(person.id)).map(({ title }) => title).sort()
  await expect.poll(titles, { timeout: 30_000 }).toEqual(['Of the first tab', 'Of the second tab'])
  expect(sent.map((all) => [...all])).toEqual([['Of the first tab'], ['Of the second tab'], ['Of the first tab']])
})

test('what changes elsewhere appears by itself', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const notes = await visited.open('notes', 'Notes')
  await notes.getByText('No notes yet').waitFor()
  await change(person.id, {
    table: 'svc_notes',
    operation: 'INSERT',
    data: { title: 'From the phone', content: 'hello' },
  })
  await notes.getByRole('option', { name: /From the phone/ }).click()
  const [{ id } = { id: 0 }] = await notesOf(person.id)
  await change(person.id, { table: 'svc_notes', operation: 'UPDATE', data: { id, content: 'hello again' } })
  await notes.getByRole('textbox', { name: 'Text of the note' }).getByText('hello again').waitFor()
  await change(person.id, { table: 'svc_notes', operation: 'DELETE', data: { id } })
  // The open note stays until the user decides.
  await notes.getByText('This note was deleted elsewhere while it was open here.').waitFor()
  await notes.getByText('Deleted elsewhere', { exact: true }).waitFor()
  expect(await visited.flaws()).toEqual([])
  await notes.getByRole('button', { name: 'Keep as a new note' }).click()
  await expect.poll(() => notesOf(person.id)).toMatchObject([{ title: 'From the phone', content: 'hello again' }])
  await notes.getByText('Saved', { exact: true }).waitFor()
  const [kept] = await notesOf(person.id)
  await change(person.id, { table: 'svc_notes', operation: 'DELETE', data: { id: kept!.id } })
  await notes.getByRole('button', { name: 'Discard' }).click()
  await notes.getByText('No notes yet').waitFor()
})

test('a change made elsewhere while writing is not overwritten but asked about', async () => {
  const person = await world.person()
  await change(person.id, { table: 'svc_notes', operation: 'INSERT', data: { title: 'Plan', content: 'first' } })
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
  const notes = await visited.open('notes', 'Notes')
  await notes.getByRole('option', { name: /Plan/ }).click()
  const text = notes.getByRole('textbox', { name: 'Text of the note' })
  await text.waitFor()
  isCut = true
  const [{ id } = { id: 0 }] = await notesOf(person.id)
  await change(person.id, { table: 'svc_notes', operation: 'UPDATE', data: { id, content: 'theirs' } })
  await text.fill('mine')
  await notes.getByText('This note was changed elsewhere').waitFor()
  expect(await notesOf(person.id)).toMatchObject([{ content: 'theirs' }])
  expect(await visited.flaws()).toEqual([])
  await notes.getByRole('button', { name: 'Keep my version' }).click()
  await notes.getByText('Saved', { exact: true }).waitFor()
  expect(await notesOf(person.id)).toMatchObject([{ content: 'mine' }])
  // The note stays open.
  expect(await text.textContent()).toBe('mine')
})

test('a deleted note comes back with one click', async () => {
  const person = await world.person()
  await change(person.id, {
    table: 'svc_notes',
    operation: 'INSERT',
    data: { title: 'Precious', content: 'x', pinned: true },
  })
  const visited = await world.enter(person)
  const notes = await visited.open('notes', 'Notes')
  await notes.getByRole('option', { name: /Precious/ }).click()
  await notes.getByRole('button', { name: 'Delete' }).click()
  await notes.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await notes.getByText('Note deleted.').waitFor()
  expect(await notesOf(person.id)).toEqual([])
  await notes.getByRole('button', { name: 'Undo' }).click()
  await notes.getByRole('option', { name: /Precious/ }).waitFor()
  expect(await notesOf(person.id)).toMatchObject([{ title: 'Precious', content: 'x', pinned: true }])
})

/** Counts the elements that methods of arrays go through, in every frame. */
const COUNT_WORK = `
  globalThis.work = 0
  for (const name of ['map', 'filter', 'find', 'findIndex', 'some', 'every', 'flatMap', 'forEach', 'toSorted']) {
    const original = Array.prototype[name]
    Array.prototype[name] = function (...args) {
      globalThis.work += this.length
      return original.apply(this, args)
    }
  }
`

test('with 5,000 notes and places few rows are drawn, and a key does not go through all of them', async () => {
  const person = await world.person()
  const insert = (table: string, data: object) => ({ table, operation: 'INSERT', data })
  for (let from = 0; from < 5_000; from += 50) {
    const operations = Array.from({ length: 50 }, (_, at) => [
      insert('svc_notes', { title: `Note ${from + at}`, content: 'x' }),
      insert('svc_places', { name: `Place ${from + at}`, latitude: (from % 170) - 85, longitude: at * 7 - 170 }),
    ]).flat()
    await world.server.local.domain.sync.push(person.id, { operations } as never, undefined)
  }
  const visited = await world.enter(person)
  const { page, context } = visited
  await context.addInitScript(COUNT_WORK)
  await page.reload()
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
  const notes = await visited.open('notes', 'Notes')
  await notes.getByRole('option').nth(3).click()
  expect(await notes.getByRole('option').count()).toBeLessThan(60)
  const title = notes.getByRole('textbox', { name: 'Title' })
  // Saving, which goes through all rows once, waits until the end.
  await page.route('**/api/rows.php?action=push*', () => undefined)
  await title.fill('Tea')
  await notes.getByRole('option', { name: /^Tea/ }).waitFor()
  await notes.evaluate('work = 0')
  await title.press('End')
  await title.press('s')
  await notes.getByRole('option', { name: /^Teas/ }).waitFor()
  expect(await notes.evaluate('work')).toBeLessThan(5_000)

  const places = await visited.open('places', 'Places')
  await places.getByRole('option').first().waitFor()
  expect(await places.getByRole('option').count()).toBeLessThan(60)
  // At most one marker per cell of the map's grid.
  expect(await places.locator('.marker').count()).toBeLessThanOrEqual(24 * 12)
}, 60_000)

test('a note that is saved for the first time while its deletion is confirmed is deleted, and comes back once', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const { page } = visited
  const notes = await visited.open('notes', 'Notes')
  const dialog = notes.getByRole('dialog')
  const createNote = async (title: string) => {
    await notes.getByRole('button', { name: 'New note' }).first().click()
    await notes.getByRole('textbox', { name: 'Title' }).fill(title)
    await notes.getByRole('button', { name: 'Delete' }).click()
    await dialog.waitFor()
  }
  await createNote('Fleeting')
  await expect.poll(() => notesOf(person.id)).toHaveLength(1)
  await notes.getByText('Saved', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await notes.getByText('Note deleted.').waitFor()
  expect(await notesOf(person.id)).toEqual([])
  await notes.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => notesOf(person.id)).toMatchObject([{ title: 'Fleeting' }])
  await notes.getByRole('option', { name: /Fleeting/ }).waitFor()

  // The same while the answer to the first save is due.
  const held = await holdAnswer(page, '**/api/rows.php?action=push*')
  await createNote('Held')
  await held.isDue
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.waitFor({ state: 'detached' })
  held.answer()
  await expect.poll(async () => (await notesOf(person.id)).map(({ title }) => title)).toEqual(['Fleeting'])
  await notes.getByRole('option', { name: /Held/ }).waitFor({ state: 'detached' })
})

test('a note that arrives while the notes are loading stays, and a failed load after a gap in the feed is repeated', async () => {
  const person = await world.person()
  const write = (title: string) => change(person.id, { table: 'svc_notes', operation: 'INSERT', data: { title } })
  await write('Old')
  const visited = await world.enter(person)
  const { page } = visited
  const ofNotes = '**/api/rows.php?action=list&tables=svc_notes'
  const held = await holdAnswer(page, ofNotes)
  const notes = await visited.open('notes', 'Notes')
  const option = (name: string) => notes.getByRole('option', { name })
  await held.isDue
  await write('New')
  await option('New').waitFor()
  held.answer()
  await option('Old').waitFor()
  expect(await option('New').count()).toBe(1)

  // The feed has a gap in which a note was written, and the notes cannot be loaded the first time.
  let failures = 0
  await page.route(ofNotes, (route) => (failures++ === 0 ? route.abort() : route.continue()))
  let isGap = true
  await page.route('**/api/rows.php?action=delta*', async (route) => {
    const response = await route.fetch().catch(() => undefined)
    if (!response) await route.abort()
    else if (!isGap) await route.fulfill({ response })
    else {
      isGap = false
      await route.fulfill({ status: 410, json: { ok: false, code: 'cursor_expired', error: 'Gone.' } })
    }
  })
  // Ends the poll that was sent before the gap.
  await write('Before')
  await option('Before').waitFor()
  await write('Lost')
  await option('Lost').waitFor()
  expect(failures).toBeGreaterThan(1)
})
