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

test('it opens at a page, and says in German that its pages are English', async () => {
  const visited = await world.enter(await world.person(), { locale: 'de-DE' })
  await visited.page.goto(`${world.server.url}/#open=help&path=/security`)
  const help = await visited.app('help')
  await help.getByRole('heading', { name: 'The assistant' }).waitFor()
  await help.getByText('Nur auf Englisch verfügbar').waitFor()
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})
