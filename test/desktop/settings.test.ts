import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../src/base/clock.ts'
import { codeOf, PASSWORD } from '../support/browser.ts'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const FRESH = 'difference engine no. 2'

async function withSettings(options = {}) {
  const person = await world.person()
  const visited = await world.enter(person, options)
  const settings = await visited.open('settings', 'Settings')
  const go = (name: string) => settings.getByRole('navigation').getByRole('button', { name }).click()
  return { person, visited, settings, go }
}

test('a new name is seen at once in the whole desktop, as text', async () => {
  const { visited, settings } = await withSettings()
  const name = settings.getByLabel('Display name')
  await name.fill('<b>Grace</b>')
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByText('Saved.').waitFor()
  await visited.page.getByRole('button', { name: 'Account: <b>Grace</b>' }).waitFor()
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('theme, language and background change everywhere and stay', async () => {
  const { visited, settings, go } = await withSettings()
  const { page } = visited
  await go('Appearance')
  await settings.getByLabel('Theme').selectOption('dark')
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  await expect.poll(() => settings.locator('html').getAttribute('data-theme')).toBe('dark')
  await settings.getByLabel('Sea').check({ force: true })
  await expect.poll(() => page.locator('html').getAttribute('data-wallpaper')).toBe('sea')
  expect(await visited.flaws()).toEqual([])
  await settings.getByLabel('Language').selectOption('de')
  await settings.getByRole('heading', { name: 'Darstellung' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Alle Apps', exact: true }).waitFor()
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
})

test('the password is changed only by who knows it', async () => {
  const { person, visited, settings, go } = await withSettings()
  await go('Password')
  await settings.getByLabel('Current password').fill('something else')
  await settings.getByLabel('New password', { exact: true }).fill(FRESH)
  await settings.getByLabel('Repeat new password').fill('different')
  await settings.getByText('The passwords do not match.').waitFor()
  await settings.getByLabel('Repeat new password').fill(FRESH)
  await settings.getByRole('button', { name: 'Change password' }).click()
  await settings.getByText('The user name or the password is wrong.').waitFor()
  expect(await visited.flaws()).toEqual([])
  await settings.getByLabel('Current password').fill(PASSWORD)
  await settings.getByRole('button', { name: 'Change password' }).click()
  await settings.getByText('Password changed.').waitFor()
  const other = await world.visit()
  await other.login(person.username, PASSWORD)
  await other.page.getByText('The user name or the password is wrong.').waitFor()
  await other.login(person.username, FRESH)
  await other.page.getByRole('navigation', { name: 'Dock' }).waitFor()
})

test('the second factor is turned on with its picture, and off again', async () => {
  const { person, visited, settings, go } = await withSettings()
  await go('Second factor')
  await settings.getByRole('button', { name: 'Set up' }).click()
  await settings.getByLabel('Current password').fill('something else')
  await settings.getByRole('button', { name: 'Set up' }).click()
  await settings.getByText('The user name or the password is wrong.').waitFor()
  await settings.getByLabel('Current password').fill(PASSWORD)
  await settings.getByRole('button', { name: 'Set up' }).click()
  await settings.getByRole('img', { name: 'QR code' }).waitFor()
  expect(await settings.getByLabel('Sign out all other browsers and devices').isChecked()).toBe(true)
  expect(await visited.flaws()).toEqual([])
  const secret = (await settings.locator('.enrol code').innerText()).replaceAll(' ', '')
  await settings.getByLabel('Code').fill('000000')
  await settings.getByRole('button', { name: 'Turn on' }).click()
  await settings.getByText('The code is wrong or expired.').waitFor()
  await settings.getByLabel('Code').fill(codeOf(world.server, secret))
  await settings.getByRole('button', { name: 'Turn on' }).click()
  await settings.getByRole('heading', { name: 'Your backup codes' }).waitFor()
  expect(await settings.locator('.codes li').count()).toBe(8)
  await settings.getByRole('button', { name: 'I have saved them' }).click()
  await settings.getByText('The second factor is on.').waitFor()
  await settings.getByText('8 backup codes are left.').waitFor()
  expect((await world.server.local.domain.accounts.twoFactor.status(person.id)).enabled).toBe(true)
  await settings.getByRole('button', { name: 'Turn off' }).click()
  await settings.getByLabel('Code').fill(codeOf(world.server, secret, 30))
  await settings.getByRole('button', { name: 'Turn off' }).click()
  await settings.getByText('The second factor is off.').waitFor()
  expectQuiet(visited)
})

test('browsers and devices are listed, and signed out one by one', async () => {
  const { person, visited, settings, go } = await withSettings()
  const { accounts } = world.server.local.domain
  await world.enter(person)
  await accounts.mintToken(person.id, { ttl: DAY, name: '<i>Laptop</i>' })
  await go('Signed-in browsers')
  await settings.getByText('This browser').waitFor()
  await settings.getByRole('button', { name: 'Sign out: Unknown browser' }).first().click()
  await settings.getByText('Signed out.').waitFor()
  await expect.poll(() => settings.locator('.sign-ins li').count()).toBe(1)
  await go('Devices')
  await settings.getByRole('button', { name: 'Sign out: <i>Laptop</i>' }).click()
  expect(await visited.flaws()).toEqual([])
  await settings.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await settings.getByText('No device is signed in.').waitFor()
  expect(await accounts.devices(person.id)).toEqual([])
})

test('a change to who can get into the account is notified once in every browser, and listed', async () => {
  const person = await world.person()
  const { accounts } = world.server.local.domain
  const owner = await world.enter(person)
  await accounts.mintToken(person.id, { ttl: DAY, name: '<i>Stranger</i>' })
  await owner.page.reload()
  await owner.page.getByRole('button', { name: 'Notifications (1)' }).click()
  const notice = owner.page.getByRole('button', { name: /Device token created: <i>Stranger<\/i>/ })
  await notice.getByText('If this was not you, change your password now.').waitFor()
  expect(await owner.flaws()).toEqual([])
  await notice.click()
  const settings = await owner.app('settings')
  await settings.getByRole('heading', { name: 'Security activity' }).waitFor()
  await settings.getByText('Device token created: <i>Stranger</i>').waitFor()
  expect(await owner.flaws()).toEqual([])
  await owner.page.reload()
  await (await owner.app('settings')).getByText('Device token created').waitFor()
  expect(await owner.page.getByRole('button', { name: /^Notifications \(/ }).count()).toBe(0)

  const other = await world.enter(person)
  await other.page.getByRole('button', { name: 'Notifications (1)' }).waitFor()
  expectQuiet(owner)
  expectQuiet(other)
})
