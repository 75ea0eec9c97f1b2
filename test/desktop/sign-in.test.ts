import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteSessionsOf } from '../../src/storage/accounts/sessions.ts'
import { codeOf, PASSWORD, secondFactor } from '../support/browser.ts'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'
import { settingsNoticed } from '../support/server.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

test('a wrong password is said beside the field, a right one opens the desktop', async () => {
  const person = await world.person()
  const visited = await world.visit()
  const { page } = visited
  expect(await visited.flaws()).toEqual([])
  await visited.login(person.username, 'not the password')
  await page.getByText('The user name or the password is wrong.').waitFor()
  await visited.login(person.username)
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('the second factor is asked for, also after a reload in between', async () => {
  const person = await world.person()
  const { secret } = await secondFactor(world.server, person.id)
  const visited = await world.visit()
  const { page } = visited
  await visited.login(person.username)
  await page.getByLabel('Code').waitFor()
  await page.reload()
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('The code is wrong or expired.').waitFor()
  expect(await visited.flaws()).toEqual([])
  await page.getByLabel('Code').fill(codeOf(world.server, secret, 30))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
})

/** Looks at what is shown in both themes. */
async function expectNoFlaws({ page, flaws }: DesktopPage): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe(colorScheme)
    expect(await flaws()).toEqual([])
  }
}

test('everything is in German for a German browser', async () => {
  const { page } = await world.visit({ locale: 'de-AT' })
  await page.getByRole('heading', { name: 'Willkommen' }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
})

test('a session that ends in the middle of work is taken up again with nothing lost', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const { page } = visited
  const notes = await visited.open('notes', 'Notes')
  // Nothing is saved before the session has ended.
  let end: () => void = () => undefined
  const hasEnded = new Promise<void>((resolve) => (end = resolve))
  await page.route('**/api/rows.php**', async (route) => {
    if (route.request().method() === 'POST') await hasEnded
    await route.continue()
  })
  await notes.getByRole('button', { name: 'New note' }).first().click()
  await notes.getByRole('textbox', { name: 'Title' }).fill('Half a thought')
  await world.server.database.write('instance', (tx) => deleteSessionsOf(tx, person.id))
  end()
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
  expect(await visited.flaws()).toEqual([])
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await notes.getByText('Saved', { exact: true }).waitFor()
  expect(await notes.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Half a thought')
  const stored = async () => {
    const { data } = await rowsAndCursorOf(world.server.local.domain.sync, person.id, ['svc_notes'])
    return data['svc_notes']
  }
  await expect.poll(stored).toMatchObject([{ title: 'Half a thought' }])
})

test('a locked desktop shows and takes nothing until the password is given', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const { page } = visited
  await visited.open('notes', 'Notes')
  await page.keyboard.press('Control+Alt+l')
  await page.getByRole('heading', { name: 'Locked' }).waitFor()
  expect(await page.locator('.desktop').isVisible()).toBe(false)
  await page.keyboard.press('Control+k')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await expectNoFlaws(visited)
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.locator('iframe[data-app="notes"]').waitFor()
})

test('a session that could not be ended is not opened again, whether the desktop was locked or left', async () => {
  const visited = await world.enter(await world.person())
  const { page } = visited
  await page.route('**/api/logout.php*', (route) => route.abort())
  await page.keyboard.press('Control+Alt+l')
  await page.getByText('The server could not end your session.').waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Not signed out yet' }).waitFor()
  await expectNoFlaws(visited)
  await page.unroute('**/api/logout.php*')
  // The page tries again by itself.
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()

  await visited.login((await world.person()).username)
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
  await page.route('**/api/logout.php*', (route) => route.abort())
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Not signed out yet' }).waitFor()
  await page.unroute('**/api/logout.php*')
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
})

test('maintenance is said to who signs in', async () => {
  const person = await world.person()
  const visited = await world.visit()
  await world.server.local.domain.instance.maintenance.begin({ message: 'New disks until noon.', until: null } as never)
  await settingsNoticed()
  try {
    await visited.login(person.username)
    await visited.page.getByText('New disks until noon.').waitFor()
    await expectNoFlaws(visited)
  } finally {
    await world.server.local.domain.instance.maintenance.end()
    await settingsNoticed()
  }
})

test('before the first administrator the page says how to make one', async () => {
  const fresh = await startWorld({ administered: false })
  try {
    const visited = await fresh.visit()
    await visited.page.getByText('svc user add NAME --role admin').waitFor()
    await expectNoFlaws(visited)
  } finally {
    await fresh.close()
  }
})
