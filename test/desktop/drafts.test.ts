import type { Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

/** Requests that save rows, and those that notice an outage. */
const isSync = (url: URL) => ['push', 'delta'].includes(url.searchParams.get('action') ?? '')

const TOO_LONG = 'This text is too long to be saved. Shorten it to at most 1,000,000 characters.'

const notesOf = async (user: number) =>
  (await rowsAndCursorOf(world.server.local.domain.sync, user, ['svc_notes'])).data['svc_notes']

/** Puts a text of so many characters into the open note, as pasting does. */
const paste = async (notes: Frame, length: number) => {
  const text = JSON.stringify(`${'x'.repeat(99)}\n`.repeat(length / 100))
  await notes.getByRole('textbox', { name: 'Text of the note' }).click()
  await notes.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', ${text})
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }`)
}

const storedLength = (page: Page) => page.evaluate('JSON.stringify(localStorage).length')

test('a text that is too long for the server is told during an outage as well, and is there again in the next window', async () => {
  const person = await world.person()
  const { page, context, open } = await world.enter(person)
  await context.route(isSync, (route) => route.abort())
  await page.reload()
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
  const notes = await open('notes', 'Notes')
  await notes.getByRole('button', { name: 'New note' }).first().click()
  await notes.getByRole('textbox', { name: 'Title' }).fill('Long')
  await notes.getByText(/Your changes are kept/).waitFor()
  await paste(notes, 1_500_000)
  await notes.getByText(TOO_LONG).waitFor()
  await expect.poll(() => storedLength(page)).toBeGreaterThan(1_500_000)
  expect(await notes.getByText(/Your changes are kept/).count()).toBe(1)

  const next = await context.newPage()
  await page.close()
  await context.unroute(isSync)
  await next.goto('/')
  const again = next.frameLocator('iframe[data-app="notes"]')
  await next.getByRole('navigation', { name: 'Dock' }).waitFor()
  await next.keyboard.press('Control+k')
  await next.getByRole('searchbox', { name: 'Search everything' }).fill('Notes')
  await next.keyboard.press('Enter')
  await again.getByRole('option', { name: /^Long/ }).click()
  await again.getByText(TOO_LONG).waitFor()
  await again.getByRole('textbox', { name: 'Text of the note' }).fill('Short')
  await again.getByText('Saved', { exact: true }).waitFor()
  expect(await notesOf(person.id)).toMatchObject([{ title: 'Long', content: 'Short' }])
})

test('a text for which the browser has no room is not said to be kept, and its window asks before it closes', async () => {
  const { page, context, open } = await world.enter(await world.person())
  // Chromium stores 5,242,880 characters.
  await page.evaluate("localStorage.setItem('other', 'x'.repeat(4_500_000))")
  await context.route(isSync, (route) => route.abort())
  await page.reload()
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
  const notes = await open('notes', 'Notes')
  await notes.getByRole('button', { name: 'New note' }).first().click()
  await paste(notes, 900_000)
  await notes.getByText(/keep this window open/).waitFor()
  expect(await notes.getByText(/Your changes are kept/).count()).toBe(0)
  await page.getByRole('region', { name: 'Notes' }).getByRole('button', { name: 'Close' }).click()
  await page.getByRole('heading', { name: 'Close without saving?' }).waitFor()
})
