import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appPackage } from '../support/app-package.ts'
import { PASSWORD } from '../support/browser.ts'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'

const PAGE = `<!doctype html><html lang="en"><title>Clock</title><h1>Clock</h1><main id="root"><p>It is late.</p></main></html>`

let world: DesktopWorld
beforeAll(async () => {
  world = await startWorld()
  await world.server.local.domain.desktop.releases.install(appPackage({ 'index.html': PAGE }))
})
afterAll(() => world?.close())

const HOSTILE = '<img src=x onerror="document.title=1">'

const stored = () => world.server.local.domain.desktop.apps
const place = { ip: '127.0.0.1', userAgent: 'test' }

const ownOf = async ({ id }: Person) => (await stored().list({ id, role: 'user' })).filter((app) => !app.is_system)

const add = (person: Person, slug: string, more: object = {}) =>
  stored().createCustom(person.id, { name: slug, slug, app_path: '/apps/clock/index.html', ...more }, place as never)

async function withManager(options = {}, prepare?: (person: Person) => Promise<unknown>) {
  const person = await world.person()
  await prepare?.(person)
  const visited = await world.enter(person, options)
  return { person, visited, app: await visited.open('apps', 'Apps') }
}

const button = (app: Frame, name: string) => app.getByRole('button', { name, exact: true })
const item = (app: Frame, name: string) => app.getByRole('navigation').getByRole('button').filter({ hasText: name })
const field = (app: Frame, name: string) => app.getByRole('textbox', { name, exact: true })

async function expectSound(visited: DesktopPage): Promise<void> {
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
}

const inLauncher = async ({ page }: DesktopPage, name: string) => {
  await page.keyboard.press('Control+k')
  const dialog = page.getByRole('dialog', { name: 'All apps' })
  await dialog.getByRole('searchbox').fill(name)
  const count = await dialog.getByRole('button').filter({ hasText: name }).count()
  // The first Escape empties a search that holds something.
  await dialog.getByRole('searchbox').fill('')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  return count
}

test('an app of one’s own is added, opened, changed and removed, and dock and launcher follow at once', async () => {
  const { person, visited, app } = await withManager()
  const { page } = visited
  await button(app, 'Add an app').click()
  await field(app, 'Name').pressSequentially('My Übergröße clock')
  expect(await field(app, 'Short name').inputValue()).toBe('my-ubergrosse-clock')
  await expectSound(visited)
  await field(app, 'Address').fill('/apps/clock/index.html')
  await app.getByRole('combobox', { name: 'Category' }).last().selectOption('utility')
  await field(app, 'Description').fill('Tells how late it is.')
  await button(app, 'Add').click()
  await app.getByText('“My Übergröße clock” was saved.').waitFor()
  expect(await ownOf(person)).toMatchObject([
    { slug: 'my-ubergrosse-clock', category: 'utility', app_path: '/apps/clock/index.html', supports_context: false },
  ])
  await expectSound(visited)
  expect(await inLauncher(visited, 'My Übergröße clock')).toBe(1)

  await button(app, 'Open').click()
  const clock = page.getByRole('region', { name: 'My Übergröße clock', exact: true })
  await clock.locator('iframe').contentFrame().getByText('It is late.').waitFor()
  const dock = page.getByRole('navigation', { name: 'Dock' })
  await dock.getByRole('button', { name: 'My Übergröße clock, open' }).waitFor()

  // Behind the window that was opened.
  await button(app, 'Edit').press('Enter')
  await field(app, 'Name').fill(HOSTILE)
  await button(app, 'Save').press('Enter')
  await dock.getByRole('button', { name: `${HOSTILE}, open` }).waitFor()
  await app.getByRole('heading', { name: HOSTILE }).waitFor()
  expect(await page.title()).not.toBe('1')
  await expectSound(visited)

  await button(app, 'Remove').press('Enter')
  await app.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter')
  await app.getByText('was removed.').waitFor()
  expect(await ownOf(person)).toEqual([])
  await expect.poll(() => inLauncher(visited, HOSTILE)).toBe(0)
})

test('apps are found by name and category, and those of all stay as they are', async () => {
  const { visited, app } = await withManager({}, (one) => add(one, 'tool', { category: 'finance' }))
  await app.getByRole('searchbox').fill('money tool')
  await app.getByText('Nothing found').waitFor()
  await app.getByRole('searchbox').fill('')
  await app.getByRole('combobox', { name: 'Category' }).selectOption('finance')
  await expect
    .poll(() => app.getByRole('navigation').getByRole('listitem').allTextContents())
    .toEqual(['TtoolFinance', 'FinanceFinance'])
  await item(app, 'FinanceFinance').click()
  await app.getByText('everyone; managed by the administrator').waitFor()
  expect(await button(app, 'Remove').count()).toBe(0)
  await expectSound(visited)
})

test('what the server refuses is said at its field, and nothing is lost', async () => {
  const { person, visited, app } = await withManager()
  const { page } = visited
  await button(app, 'Add an app').click()
  await field(app, 'Name').fill('Evil')
  await field(app, 'Short name').fill('files')
  await button(app, 'Add').click()
  await app.getByText('This short name is already taken').waitFor()
  await field(app, 'Short name').fill('-Evil-')
  await button(app, 'Add').click()
  await app.getByText('Use at most 63 lower-case letters').waitFor()
  await field(app, 'Short name').fill('evil')
  for (const address of [
    'javascript:alert(1)',
    'https://elsewhere.example/',
    '/apps/../api/session.php',
    'data:text/html,x',
  ]) {
    await field(app, 'Address').fill(address)
    await button(app, 'Add').click()
    await app.getByText('Enter a page below /apps/').waitFor()
    await field(app, 'Address').fill('')
  }
  await expectSound(visited)
  await field(app, 'Icon').fill('data:image/svg+xml,<svg onload=alert(1)>')
  expect(await ownOf(person)).toEqual([])

  await page.reload({ waitUntil: 'commit' })
  const again = await visited.app('apps')
  await expect
    .poll(() =>
      field(again, 'Name')
        .inputValue()
        .catch(() => ''),
    )
    .toBe('Evil')
  await visited.context.clearCookies()
  await button(again, 'Remove the icon').click()
  await button(again, 'Add').click()
  await page.getByText('Your unsaved changes are kept').waitFor()
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await again.getByText('“Evil” was saved.').waitFor()
  expect(await ownOf(person)).toMatchObject([{ slug: 'evil', app_path: '/apps/evil/index.html', icon_url: '' }])
})

test('a picture becomes the icon, small and here', async () => {
  const { person, visited, app } = await withManager({}, (one) => add(one, 'pic'))
  const red = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
    'base64',
  )
  await item(app, 'pic').click()
  await button(app, 'Edit').click()
  const [chooser] = await Promise.all([
    visited.page.waitForEvent('filechooser'),
    button(app, 'Choose an image').click(),
  ])
  await chooser.setFiles({ name: 'x.txt', mimeType: 'text/plain', buffer: Buffer.from(HOSTILE) })
  await app.getByText('This file is not a supported image').waitFor()
  const [again] = await Promise.all([visited.page.waitForEvent('filechooser'), button(app, 'Choose an image').click()])
  await again.setFiles({ name: 'red.png', mimeType: 'image/png', buffer: red })
  await button(app, 'Remove the icon').waitFor()
  await button(app, 'Save').click()
  await app.getByText('“pic” was saved.').waitFor()
  expect((await ownOf(person))[0]!.icon_url).toMatch(/^data:image\/png;base64,/)
  const shown = () => app.evaluate("document.querySelector('.app-head img')?.naturalWidth")
  await expect.poll(shown).toBe(128)
  await expectSound(visited)
})

test('what was changed or removed elsewhere is not overwritten', async () => {
  const { person, app } = await withManager({}, (one) => add(one, 'shared'))
  await item(app, 'shared').click()
  await button(app, 'Edit').click()
  const [{ id } = { id: 0 }] = await ownOf(person)
  await stored().update(person.id, { id, name: 'Theirs', category: 'maps' })
  await field(app, 'Description').fill('Mine')
  await button(app, 'Save').click()
  await app.getByText('was saved.').waitFor()
  expect(await ownOf(person)).toMatchObject([{ name: 'Theirs', category: 'maps', description: 'Mine' }])

  await app.getByRole('heading', { name: 'Theirs' }).waitFor()
  await button(app, 'Edit').click()
  await field(app, 'Name').fill('Mine')
  await stored().update(person.id, { id, name: HOSTILE })
  await button(app, 'Save').click()
  await app.getByText('The app was changed elsewhere').waitFor()
  expect(await ownOf(person)).toMatchObject([{ name: HOSTILE }])
  await button(app, 'Keep my version').click()
  await button(app, 'Save').click()
  await app.getByRole('heading', { name: 'Mine' }).waitFor()
  expect(await ownOf(person)).toMatchObject([{ name: 'Mine', category: 'maps', description: 'Mine' }])

  await button(app, 'Edit').click()
  await field(app, 'Name').fill('Again')
  await stored().remove(person.id, id)
  await button(app, 'Save').click()
  await app.getByText('The app was removed elsewhere').waitFor()
  await button(app, 'Add it again').click()
  await button(app, 'Add').click()
  await app.getByText('“Again” was saved.').waitFor()
  expect(await ownOf(person)).toMatchObject([{ name: 'Again', slug: 'shared', category: 'maps' }])
})

test('works on a phone, in the dark, in German, by keys', async () => {
  const person = await world.person()
  await add(person, 'uhr')
  const options = {
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
    locale: 'de-DE',
    hasTouch: true,
  } as const
  const visited = await world.enter(person, options)
  await visited.page.keyboard.press('Control+k')
  await visited.page.getByRole('searchbox').fill('apps')
  await visited.page.keyboard.press('Enter')
  const app = await visited.app('apps')
  await item(app, 'Komponenten').press('Enter')
  await app.getByText('Den Desktop mit eigenen Stilen, Hooks und Widgets anpassen.').waitFor()
  await expectSound(visited)
  await button(app, 'Zurück').press('Enter')
  await item(app, 'uhr').press('Enter')
  await button(app, 'Bearbeiten').press('Enter')
  await app.getByRole('heading', { name: '„uhr“ bearbeiten' }).waitFor()
  await expectSound(visited)
})

test('administrators disable an app for everybody, and let them have it again', async () => {
  const visited = await world.enter(await world.person('admin'))
  const app = await visited.open('apps', 'Apps')
  await item(app, 'Bookmarks').click()
  await button(app, 'Disable for everyone').click()
  await app.getByRole('dialog').getByRole('button', { name: 'Disable for everyone' }).click()
  await app.getByText('“Bookmarks” is disabled.').waitFor()
  await app.getByText('This app is hidden from all users.').waitFor()
  await expect.poll(() => inLauncher(visited, 'Bookmarks')).toBe(0)
  await expectSound(visited)
  const user = await world.person()
  const slugs = async () => (await stored().list({ id: user.id, role: 'user' })).map(({ slug }) => slug)
  expect(await slugs()).not.toContain('bookmarks')
  await button(app, 'Enable').click()
  await app.getByText('“Bookmarks” is enabled.').waitFor()
  await expect.poll(() => inLauncher(visited, 'Bookmarks')).toBe(1)
  expect(await slugs()).toContain('bookmarks')
})
