import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD } from '../support/browser.ts'
import { startChromium } from '../support/chromium.ts'
import { startServer, type TestServer } from '../support/server.ts'

type Browser = Awaited<ReturnType<typeof startChromium>>

let server: TestServer
let browser: Browser | undefined
beforeAll(async () => {
  server = await startServer({ administered: false })
  browser = await startChromium()
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
})

test('the set-up page and its refusals are German where the browser is', async () => {
  const { token } = (await server.local.domain.accounts.setup.offer())!
  const page = await browser!.newPage({ locale: 'de-DE' })
  await page.goto(`${server.url}/setup?token=${token}`)
  await page.getByRole('heading', { name: 'Ersten Administrator anlegen' }).waitFor()
  await page.getByLabel('Benutzername').fill('root')
  await page.getByLabel('Passwort', { exact: true }).fill('password1')
  await page.getByLabel('Passwort wiederholen').fill('password2')
  await page.getByRole('button').click()
  await page.getByRole('alert').getByText('stimmen nicht überein').waitFor()
  await page.getByLabel('Passwort wiederholen').fill('password1')
  await page.getByRole('button').click()
  await page.getByRole('alert').getByText('ist nicht zulässig').waitFor()
})

test('the set-up page says why it refuses, and makes the administrator at the next try', async () => {
  const { token } = (await server.local.domain.accounts.setup.offer())!
  const page = await browser!.newPage()
  await page.goto(`${server.url}/setup?token=${token}`)
  const submit = async (password: string, repeated: string) => {
    await page.getByLabel('User name').fill('root')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByLabel('Repeat the password').fill(repeated)
    await page.getByRole('button').click()
  }
  await submit(PASSWORD, 'another password')
  await page.getByRole('alert').getByText('The two passwords differ.').waitFor()
  await submit('password1', 'password1')
  await page.getByRole('alert').getByText('password').waitFor()
  await submit(PASSWORD, PASSWORD)
  await page.getByRole('heading', { name: 'Welcome, root' }).waitFor()
  expect((await server.local.domain.accounts.list()).map(({ username }) => username)).toEqual(['root'])
  await page.goto(`${server.url}/setup?token=${token}`)
  await page.getByRole('link', { name: 'Go to the desktop' }).click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
})
