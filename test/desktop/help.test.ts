import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

test('the documentation is read in the Help app, page by page and by its links', async () => {
  const visited = await world.enter(await world.person())
  const help = await visited.open('help', 'Help')
  await help.getByRole('heading', { name: 'Run the server' }).waitFor()
  expect(await visited.flaws()).toEqual([])
  await help.getByRole('link', { name: 'Team chat' }).click()
  await help.getByRole('heading', { name: 'Files in rooms' }).waitFor()
  expect(await help.getByRole('button', { name: 'Team chat' }).getAttribute('aria-current')).toBe('page')
  await help.getByRole('button', { name: 'Performance' }).click()
  await help.getByRole('heading', { name: 'Attacks' }).waitFor()
  expect(await help.getByText('<!--').count()).toBe(0)
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('it opens at a page on a phone, without a word outside, and says in German that its pages are English', async () => {
  const options = { locale: 'de-DE', viewport: { width: 390, height: 844 } }
  const visited = await world.enter(await world.person(), options)
  await visited.page.goto(`${world.server.url}/#open=help&path=/security`)
  const help = await visited.app('help')
  await help.getByRole('heading', { name: 'The assistant' }).waitFor()
  await help.getByText('Nur auf Englisch verfügbar').waitFor()
  const end = `Math.max(...[...document.querySelectorAll('main p')].map((text) => text.getBoundingClientRect().right))`
  expect(await help.evaluate(end)).toBeLessThanOrEqual(390)
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})
