import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true }

/** Views that the entry of the browser's history stands for. */
const levelsOf = (page: Page) => page.evaluate<number>('history.state?.levels ?? 0')

test('on a phone, Back leaves dialog, note, app and only then the desktop; Forward and a reload lead back', async () => {
  const person = await world.person()
  await world.server.local.domain.sync.push(
    person.id,
    { operations: [{ table: 'svc_notes', operation: 'INSERT', data: { title: 'Plan', content: 'x' } }] } as never,
    undefined,
  )
  const visited = await world.enter(person, phone)
  const { page } = visited
  const start = page.url()
  const notes = await visited.open('notes', 'Notes')
  const option = notes.getByRole('option', { name: /Plan/ })
  const editor = notes.getByRole('textbox', { name: 'Title' })
  const window = page.locator('section.window', { has: page.locator('iframe[data-app="notes"]') })
  await option.tap()
  await notes.getByRole('button', { name: 'Delete' }).tap()
  await notes.getByRole('dialog').waitFor()
  await expect.poll(() => levelsOf(page)).toBe(3)
  await page.goBack()
  await notes.getByRole('dialog').waitFor({ state: 'detached' })
  await editor.waitFor()
  await page.goBack()
  await option.waitFor()
  await page.goForward()
  await editor.waitFor()
  await expect.poll(() => levelsOf(page)).toBe(2)

  // The button of the app leaves as much of the history as Back does.
  await notes.getByRole('button', { name: 'Back' }).tap()
  await expect.poll(() => levelsOf(page)).toBe(1)
  await page.goBack()
  await window.waitFor({ state: 'hidden' })
  await page.goForward()
  await window.waitFor()
  await option.tap()
  await expect.poll(() => levelsOf(page)).toBe(2)
  await page.reload()
  await (await visited.app('notes')).getByRole('textbox', { name: 'Title' }).waitFor()
  await expect.poll(() => levelsOf(page)).toBe(2)
  await page.goBack()
  await (await visited.app('notes')).getByRole('option', { name: /Plan/ }).waitFor()
  await page.goBack()
  await window.waitFor({ state: 'hidden' })
  expect(page.url()).toBe(start)
  await page.goBack()
  expect(page.url()).toBe('about:blank')
  expectQuiet(visited)
}, 60_000)

test('on a phone, Back goes from a folder to its parent, from a room to the rooms and closes what the desktop shows', async () => {
  const person = await world.person()
  const { chat, files } = world.server.local.domain
  await files.desktop.makeFolder(person.id, '/Reports/of 1843')
  const author = { ...person, display_name: 'Ada', role: 'user', avatar_color: '#3b5bdb' } as never
  await chat.createRoom(author, { name: 'Plans', type: 'channel', participants: [] })
  const visited = await world.enter(person, phone)
  const { page } = visited
  await page.getByRole('button', { name: 'Notifications' }).tap()
  await page.getByText('No notifications').waitFor()
  await expect.poll(() => levelsOf(page)).toBe(1)
  await page.goBack()
  await page.getByText('No notifications').waitFor({ state: 'detached' })

  await page.evaluate(`void (location.hash = 'open=files&path=%2FReports%2Fof+1843')`)
  const frame = await visited.app('files')
  await frame.getByRole('button', { name: 'of 1843' }).first().waitFor()
  await expect.poll(() => levelsOf(page)).toBe(3)
  await page.goBack()
  await frame
    .getByRole('row', { name: /of 1843/ })
    .or(frame.getByRole('option', { name: /of 1843/ }))
    .waitFor()
  await page.goBack()
  await expect.poll(() => levelsOf(page)).toBe(1)
  await page.goBack()
  await page.getByRole('region', { name: 'Files' }).waitFor({ state: 'hidden' })

  const rooms = await visited.open('chat', 'Team chat')
  await rooms.getByRole('button', { name: /Plans/ }).tap()
  const message = rooms.getByRole('textbox', { name: /^Message to/ })
  await message.waitFor()
  await expect.poll(() => levelsOf(page)).toBe(2)
  await page.goBack()
  await message.waitFor({ state: 'hidden' })
  await rooms.getByRole('button', { name: /Plans/ }).waitFor()
  expectQuiet(visited)
}, 60_000)

test('on a large screen, the desktop leaves the history alone', async () => {
  const visited = await world.enter(await world.person())
  const { page } = visited
  const before = await page.evaluate('history.length')
  const notes = await visited.open('notes', 'Notes')
  await notes.getByRole('button', { name: 'New note' }).first().click()
  await notes.getByRole('textbox', { name: 'Title' }).waitFor()
  expect(await page.evaluate('history.length')).toBe(before)
  await page.setViewportSize(phone.viewport)
  await expect.poll(() => levelsOf(page)).toBe(2)
  await page.setViewportSize({ width: 1280, height: 800 })
  await expect.poll(() => levelsOf(page)).toBe(0)
})
