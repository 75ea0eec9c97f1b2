import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD } from '../support/browser.ts'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const HOSTILE = '<img src=x onerror="document.title=1">'

type Kind = 'css' | 'js' | 'widget'

const stored = () => world.server.local.domain.desktop.components

const save = (person: Person, component_id: string, component_type: Kind, code: string) =>
  stored().save({ user: person.id, allowsCode: true }, { component_id, component_type, code, metadata: {} })

const codeOf = async ({ id }: Person, name: string) => (await stored().get(id, name)).code

async function withStudio(options = {}, prepare?: (person: Person) => Promise<unknown>) {
  const person = await world.person()
  await prepare?.(person)
  const visited = await world.enter(person, options)
  return { person, visited, app: await visited.open('components', 'Components') }
}

const accent = ({ page }: DesktopPage) =>
  page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()")

async function begin(app: Frame, sample: string, name: string): Promise<void> {
  await app.getByRole('button', { name: 'New component' }).first().click()
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('Template').selectOption(sample)
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.waitFor({ state: 'detached' })
}

const editor = (app: Frame, name: string) => app.getByRole('textbox', { name: `Code of ${name}`, exact: true })
const button = (app: Frame, name: string) => app.getByRole('button', { name, exact: true })
const item = (app: Frame, name: string) => app.getByRole('navigation').getByRole('button').filter({ hasText: name })
const saved = (app: Frame) => app.getByRole('status').getByText('Saved', { exact: true }).waitFor()

async function type(app: Frame, name: string, code: string): Promise<void> {
  await editor(app, name).fill(code)
  await app.getByRole('status').getByText('Not saved yet').waitFor()
}

async function expectSound(visited: DesktopPage): Promise<void> {
  // What the page of a widget lacks is its author's affair.
  expect((await visited.flaws()).filter((flaw) => !flaw.endsWith(': html'))).toEqual([])
  expectQuiet(visited)
}

test('a style is begun, saved, at work on the desktop at once, changed, compared, and gone back to', async () => {
  const { person, visited, app } = await withStudio()
  await app.getByText('No components yet').waitFor()
  await expectSound(visited)
  await begin(app, 'empty_css', 'teal')
  await type(app, 'teal', ':root {\n  --accent: #008080;\n}\n')
  await button(app, 'Save').click()
  await saved(app)
  await expect.poll(() => accent(visited)).toBe('#008080')
  await item(app, 'Active: version 1').waitFor()

  await type(app, 'teal', ':root {\n  --accent: #123456;\n}\n')
  expect(await accent(visited)).toBe('#008080')
  await visited.page.keyboard.press('Control+s')
  await saved(app)
  await expect.poll(() => accent(visited)).toBe('#123456')
  await expectSound(visited)

  await button(app, 'Versions').click()
  await app.getByRole('button', { name: /^Version 1/ }).click()
  const difference = app.getByRole('region', { name: 'Differences between version 1 and the editor' })
  await difference.waitFor()
  expect(await difference.locator('div').allTextContents()).toEqual([
    ':root {',
    'Removed:   --accent: #008080;',
    'Added:   --accent: #123456;',
    '}',
  ])
  await expectSound(visited)
  await button(app, 'Activate').click()
  await expect.poll(() => accent(visited)).toBe('#008080')
  await app.getByText('Version 1 is active. The newest is version 2.').waitFor()
  expect(await codeOf(person, 'teal')).toContain('#008080')

  await app.getByRole('button', { name: /^Version 2/ }).click()
  await app.getByRole('button', { name: 'Copy to the editor' }).click()
  await button(app, 'Code').click()
  await expect.poll(() => editor(app, 'teal').textContent()).toContain('#123456')
  await button(app, 'Save').click()
  await item(app, 'Active: version 3').waitFor()
  await expect.poll(() => accent(visited)).toBe('#123456')
})

test('what is switched off leaves the desktop, one by one or all at once, and comes back', async () => {
  const { person, visited, app } = await withStudio({}, async (one) => {
    await save(one, 'first', 'css', ':root { --accent: #111111 }')
    await save(one, 'second', 'css', '.dock { gap: 9px }')
  })
  await expect.poll(() => accent(visited)).toBe('#111111')
  await item(app, 'first').click()
  await editor(app, 'first').waitFor()
  await button(app, 'More').nth(1).click()
  await app.getByRole('menuitem', { name: 'Disable' }).click()
  await app.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await app.getByText('This component is disabled.').waitFor()
  await expect.poll(() => accent(visited)).not.toBe('#111111')
  await button(app, 'Enable').click()
  await expect.poll(() => accent(visited)).toBe('#111111')

  await button(app, 'More').first().click()
  await app.getByRole('menuitem', { name: 'Disable all' }).click()
  await app.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  expect(await stored().list(person.id)).toHaveLength(2)
  await button(app, 'More').first().click()
  await app.getByRole('menuitem', { name: 'Disable all' }).click()
  await app.getByRole('dialog').getByRole('button', { name: 'Disable all' }).click()
  await app.getByText('2 components were disabled.').waitFor()
  expect(await stored().list(person.id)).toEqual([])
  await expect.poll(() => accent(visited)).not.toBe('#111111')
})

test('a broken script is switched off, its notice opens the app on it, and mended it runs', async () => {
  const name = `h & <b>k</b> ../x?#%`
  const { visited, app } = await withStudio({}, (one) => save(one, name, 'js', `throw new Error('${HOSTILE}')`))
  const { page } = visited
  const follow = async () => {
    await page.getByRole('button', { name: /^Notifications/ }).click()
    await page.getByRole('dialog').getByRole('button').filter({ hasText: 'was stopped' }).first().click()
  }
  await page.getByRole('button', { name: 'Notifications (1)' }).waitFor()
  await page.getByRole('region', { name: 'Components' }).getByRole('button', { name: 'Close' }).click()
  await follow()
  const studio = await visited.app('components')
  const told = studio
    .getByRole('alert')
    .getByText(`The desktop stopped this component: It failed: Uncaught Error: ${HOSTILE}`)
  await told.waitFor()
  await studio.getByRole('heading', { name }).waitFor()
  await item(studio, 'Stopped by the desktop').waitFor()
  await expectSound(visited)
  expect(app.isDetached()).toBe(true)

  // Somewhere else meanwhile, the same notice leads back.
  await begin(studio, 'empty_css', 'other')
  await follow()
  await told.waitFor()

  await type(
    studio,
    name,
    `window.__svcHooks.dock = () => ({ order: ['settings'], hidden: [], labels: { settings: 'Mended' } })`,
  )
  await button(studio, 'Save').click()
  await page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Mended' }).waitFor()
  await told.waitFor({ state: 'detached' })
})

test('what is written is tried out on the desktop and says what became of it, without being saved', async () => {
  const { person, visited, app } = await withStudio()
  const { page } = visited
  await begin(app, 'empty_js', 'hooks')
  await type(app, 'hooks', `window.__svcHooks.dock = ({ language }) => ({ labels: { notes: 'Slips ' + language } })`)
  await button(app, 'Preview on the desktop').click()
  const answer = app.getByRole('region', { name: 'Result of the “dock” hook' })
  await expect.poll(() => answer.textContent().catch(() => '')).toContain('"notes": "Slips en"')
  const slips = page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Slips en' })
  await slips.waitFor()
  await expectSound(visited)
  await type(app, 'hooks', `throw new Error('${HOSTILE}')`)
  await app.getByText(`It failed: Uncaught Error: ${HOSTILE}`).waitFor()
  await slips.waitFor({ state: 'detached' })
  await type(app, 'hooks', `localStorage.x = eval('1')`)
  await app.getByText('Hooks cannot contain eval(, localStorage').waitFor()
  await button(app, 'Save').click()
  await app.getByText('Blockierter Code').waitFor()

  await begin(app, 'weather', 'sky')
  await button(app, 'Preview on the desktop').click()
  const widget = page.getByRole('region', { name: 'Widget sky' })
  await widget.locator('iframe').contentFrame().getByText('At home').waitFor()
  expect((await widget.boundingBox())!.width).toBe(240)
  await app.getByRole('spinbutton', { name: 'Width' }).fill('300')
  await expect.poll(async () => (await widget.boundingBox())?.width).toBe(300)
  await expectSound(visited)
  await button(app, 'Preview on the desktop').click()
  await widget.waitFor({ state: 'detached' })

  await begin(app, 'accent', 'green')
  const before = await accent(visited)
  await button(app, 'Preview on the desktop').click()
  await app.getByText('The preview is running on the desktop.').waitFor()
  await expect.poll(() => accent(visited)).not.toBe(before)
  await item(app, 'sky').click()
  await expect.poll(() => accent(visited)).toBe(before)
  expect(await stored().all(person.id)).toEqual([])
})

test('what was saved elsewhere is not overwritten, and what is written outlives a reload', async () => {
  const { person, visited, app } = await withStudio({}, (one) => save(one, 'shared', 'css', 'a {}'))
  await item(app, 'shared').click()
  await type(app, 'shared', 'b {}')
  await save(person, 'shared', 'css', `/* ${HOSTILE} */`)
  await button(app, 'Save').click()
  await app.getByText('Another version was saved elsewhere').waitFor()
  expect(await codeOf(person, 'shared')).toContain(HOSTILE)
  await button(app, 'Show differences').click()
  await app
    .getByRole('region', { name: 'Differences between the other version and yours' })
    .getByText(HOSTILE)
    .waitFor()
  await expectSound(visited)

  await visited.page.reload({ waitUntil: 'commit' })
  const again = await visited.app('components')
  await item(again, 'shared').click()
  await again.getByText('Another version was saved elsewhere').waitFor()
  await expect.poll(() => editor(again, 'shared').textContent()).toBe('b {}')
  await button(again, 'Save my version as the newest').click()
  await saved(again)
  expect(await codeOf(person, 'shared')).toBe('b {}')
  expect((await stored().history(person.id, 'shared')).map(({ version }) => version)).toEqual([3, 2, 1])

  await type(again, 'shared', 'c {}')
  await save(person, 'shared', 'css', 'd {}')
  await visited.page.keyboard.press('Control+s')
  await button(again, 'Use the other version').click()
  await expect.poll(() => editor(again, 'shared').textContent()).toBe('d {}')
  await saved(again)
})

test('what cannot be sent is kept: without the server, and when the session ends', async () => {
  const { person, visited, app } = await withStudio()
  const { page, context } = visited
  await begin(app, 'empty_css', 'kept')
  await type(app, 'kept', 'body {}')
  await page.route('**/api/**', (route) => route.abort())
  await button(app, 'Save').click()
  await app.getByRole('alert').getByText('The server cannot be reached at the moment.').waitFor()
  await page.unroute('**/api/**')
  await context.clearCookies()
  await button(app, 'Save').click()
  await page.getByText('Your unsaved changes are kept').waitFor()
  expect(await stored().all(person.id)).toEqual([])
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await saved(app)
  expect(await codeOf(person, 'kept')).toBe('body {}')
})

test('names are text and keep to the rules; code may be too long', async () => {
  const { person, visited, app } = await withStudio({}, (one) => save(one, 'taken', 'css', ''))
  await item(app, 'taken').waitFor()
  await button(app, 'New component').click()
  const name = app.getByRole('dialog').getByLabel('Name')
  await name.fill('taken')
  await app.getByText('A component with this name already exists.').waitFor()
  await name.fill('x'.repeat(101))
  await app.getByText('Enter at most 100 characters.').waitFor()
  await name.fill('a\u202eb')
  await app.getByText('The name contains invisible characters.').waitFor()
  await app.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await name.fill(HOSTILE)
  await app.getByRole('dialog').getByLabel('Template').selectOption('empty_css')
  await app.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await type(app, HOSTILE, `/* ${'x'.repeat(102_400)} */`)
  await app.getByText('The code is too large to be saved.').waitFor()
  await button(app, 'Save').click()
  await app.getByText('Code zu gross').waitFor()
  await type(app, HOSTILE, '/* small */')
  await button(app, 'Save').click()
  await saved(app)
  await type(app, HOSTILE, '/* not wanted */')
  await button(app, 'More').nth(1).click()
  await app.getByRole('menuitem', { name: 'Discard changes' }).click()
  await app.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
  await expect.poll(() => editor(app, HOSTILE).textContent()).toBe('/* small */')
  expect((await stored().all(person.id)).map(({ component_id }) => component_id)).toEqual([HOSTILE, 'taken'])
  expect(await visited.page.title()).not.toBe('1')
  await expectSound(visited)
})

test('works on a phone, in the dark, in German, by keys', async () => {
  const person = await world.person()
  await save(person, 'farbe', 'css', ':root { --accent: #8ff0dd }')
  const visited = await world.enter(person, {
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
    locale: 'de-DE',
    hasTouch: true,
  })
  const { page } = visited
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill('Komponenten')
  await page.keyboard.press('Enter')
  const app = await visited.app('components')
  await item(app, 'farbe').press('Enter')
  await app.getByRole('textbox', { name: 'Code von farbe' }).waitFor()
  await expectSound(visited)
  await button(app, 'Versionen').press('Enter')
  await app.getByRole('button', { name: /^Version 1/ }).press('Enter')
  await app.getByText('stimmt mit dem Text im Editor überein').waitFor()
  await expectSound(visited)
  await button(app, 'Zurück').press('Enter')
  await app.getByText('Aktiv: Version 1').waitFor()
})

test('a profile keeps what is in force, and brings it back when all has changed', async () => {
  const { person, visited, app } = await withStudio({}, (one) =>
    save(one, 'colour', 'css', ':root { --accent: #111111 }'),
  )
  await expect.poll(() => accent(visited)).toBe('#111111')
  await button(app, 'Profiles').click()
  await app.getByText('No profiles yet').waitFor()
  await app.getByRole('textbox', { name: 'Profile name' }).fill(HOSTILE)
  await button(app, 'Save as a profile').click()
  await app.getByText('Saved with 1 component.').waitFor()
  await app.getByText(HOSTILE, { exact: true }).waitFor()
  await expectSound(visited)

  await app.getByRole('button', { name: `Rename: ${HOSTILE}` }).click()
  await app.getByRole('dialog').getByLabel('Profile name').fill('Evening')
  await app.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await app.getByText('Evening', { exact: true }).waitFor()

  await save(person, 'colour', 'css', ':root { --accent: #222222 }')
  await save(person, 'wide', 'css', '.dock { gap: 9px }')
  await app.getByRole('button', { name: 'Apply: Evening' }).click()
  await expectSound(visited)
  await app.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
  await app.getByText('“Evening” was applied.').waitFor()
  await expect.poll(() => accent(visited)).toBe('#111111')
  expect(await stored().list(person.id)).toMatchObject([{ component_id: 'colour', version: 3 }])
  await item(app, 'Active: version 3').waitFor()

  await app.getByRole('button', { name: 'Delete: Evening' }).click()
  await app.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await app.getByText('No profiles yet').waitFor()
  await expect.poll(() => accent(visited)).toBe('#111111')
})
