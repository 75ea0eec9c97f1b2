import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD } from '../support/browser.ts'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld({ indexAfterMs: 0 })))
afterAll(() => world?.close())

test('an address that names an app opens it, after signing in too, and only once', async () => {
  const { id, username } = await world.person()
  await world.server.local.domain.files.desktop.makeFolder(id, '/My reports/of 1843')
  const visited = await world.visit()
  const { page } = visited
  await page.goto('/#open=files&path=%2FMy+reports')
  await visited.login(username)
  await page.getByRole('region', { name: 'Files' }).waitFor()
  await (await visited.app('files')).getByText('of 1843').first().waitFor()
  await expect.poll(() => new URL(page.url()).hash).toBe('')

  // On a desktop that is open already.
  await page.evaluate(`void (location.hash = 'open=notes')`)
  await page.getByRole('region', { name: 'Notes' }).waitFor()
  await expect.poll(() => new URL(page.url()).hash).toBe('')
  await page.evaluate(`void (location.hash = 'open=files')`)
  await expect.poll(() => new URL(page.url()).hash).toBe('')
  expect(await page.getByRole('region').count()).toBe(2)
  expectQuiet(visited)
})

test('an address that names an app while the desktop starts, or is locked, opens it as soon as that is possible', async () => {
  const visited = await world.enter(await world.person())
  const { page } = visited
  // The first request for the list of apps fails.
  let requests = 0
  await page.route('**/api/apps.php?action=list', (route) => (++requests === 1 ? route.abort() : route.continue()))
  await page.goto('about:blank')
  const failed = page.waitForEvent('requestfailed')
  await page.goto('/')
  await failed
  await page.evaluate(`void (location.hash = 'open=notes')`)
  await page.getByRole('region', { name: 'Notes' }).waitFor()
  await expect.poll(() => new URL(page.url()).hash).toBe('')

  await page.keyboard.press('Control+Alt+l')
  await page.getByRole('heading', { name: 'Locked' }).waitFor()
  await page.evaluate(`void (location.hash = 'open=tasks')`)
  // It leaves the history at once.
  await expect.poll(() => new URL(page.url()).hash).toBe('')
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Tasks' }).waitFor()
  expectQuiet(visited)
})

test('an address that names no app, or a strange one, opens nothing and says so', async () => {
  const visited = await world.enter(await world.person())
  for (const hash of ['open=nothing', 'open=', 'open=../files', 'open=%00', 'open=__proto__']) {
    await visited.page.evaluate(`void (location.hash = '${hash}')`)
    await expect.poll(() => new URL(visited.page.url()).hash).toBe('')
  }
  await visited.page.getByText('No app found.').first().waitFor()
  // What means something else stays.
  await visited.page.evaluate(`void (location.hash = 'elsewhere')`)
  expect(new URL(visited.page.url()).hash).toBe('#elsewhere')
  expect(await visited.page.getByRole('region').count()).toBe(0)
  expectQuiet(visited)
})

test('Ctrl K finds what was written, by keys alone, and opens it', async () => {
  const person = await world.person()
  const { sync, search } = world.server.local.domain
  const data = { title: 'Ornithology', content: 'The kakapo cannot fly.' }
  await sync.push(person.id, { operations: [{ table: 'svc_notes', operation: 'INSERT', data }] }, undefined)
  await expect
    .poll(async () => (await search.find(person.id, { query: 'kakapo' })).results.length, { timeout: 20_000 })
    .toBe(1)
  const visited = await world.enter(person)
  const { page } = visited
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search everything' }).fill('KAKA')
  const line = page.getByRole('button', { name: 'Ornithology' })
  await line.getByText('The kakapo cannot fly.').waitFor()
  expect(await visited.flaws()).toEqual([])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  expect(await (await visited.app('notes')).getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Ornithology')
  // Actions of the desktop are found too, and what is not there is said.
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search everything' }).fill('keyboard short')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search everything' }).fill('"*')
  await page.getByText('Nothing was found.').waitFor()
  expectQuiet(visited)
})
