import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256Of } from '../support/contents.ts'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'
import { makeRoom } from '../support/rooms.ts'
import { unzipped } from '../support/zip.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

async function put(user: number, path: string, content: string): Promise<void> {
  const { desktop } = world.server.local.domain.files
  await desktop.write(user, path, { staged: await desktop.receive(Readable.from([Buffer.from(content)])) })
}

const item = (frame: Frame, name: string) =>
  frame.getByRole('option').filter({ has: frame.getByTitle(name, { exact: true }) })

/** What the browser saves after something was done: its name, and what is in it. */
async function saved({ page }: DesktopPage, act: () => Promise<unknown>) {
  const [download] = await Promise.all([page.waitForEvent('download'), act()])
  const bytes = readFileSync(await download.path())
  const name = download.suggestedFilename()
  const entries = name.endsWith('.zip') ? await unzipped(bytes) : []
  return { name, bytes, held: Object.fromEntries(entries.map((entry) => [entry.name, entry.sha256])) }
}

const EMPTY = sha256Of('')

async function withLetters(): Promise<Person> {
  const person = await world.person()
  for (const name of ['one.txt', 'two.txt', 'below/Grüße „drei“ 🌳.txt']) await put(person.id, `/Letters/${name}`, name)
  await put(person.id, '/other.txt', 'other')
  return person
}

const letters = {
  'Letters/': EMPTY,
  'Letters/one.txt': sha256Of('one.txt'),
  'Letters/two.txt': sha256Of('two.txt'),
  'Letters/below/': EMPTY,
  'Letters/below/Grüße „drei“ 🌳.txt': sha256Of('below/Grüße „drei“ 🌳.txt'),
}

test('a folder is downloaded as an archive, from its menu by mouse and by keys and from inside', async () => {
  const person = await withLetters()
  const visited = await world.enter(person)
  const { keyboard } = visited.page
  const frame = await visited.open('files', 'Files')
  await item(frame, 'Letters').click({ button: 'right' })
  const byMouse = await saved(visited, () => frame.getByRole('menuitem', { name: 'Download' }).click())
  expect([byMouse.name, byMouse.held]).toEqual(['Letters.zip', letters])

  await item(frame, 'Letters').click()
  await frame.getByRole('listbox').focus()
  await keyboard.press('Shift+F10')
  await frame.getByRole('menuitem', { name: 'Download' }).waitFor()
  await keyboard.press('ArrowDown')
  const byKeys = await saved(visited, () => keyboard.press('Enter'))
  expect([byKeys.name, byKeys.held]).toEqual(['Letters.zip', letters])

  await item(frame, 'Letters').dblclick()
  await item(frame, 'one.txt').waitFor()
  await frame.locator('.items').click({ button: 'right', position: { x: 300, y: 400 } })
  const fromInside = await saved(visited, () => frame.getByRole('menuitem', { name: 'Download folder' }).click())
  expect([fromInside.name, fromInside.held]).toEqual(['Letters.zip', letters])
  expectQuiet(visited)
})

test('several items are downloaded as one archive, a single file as it is', async () => {
  const person = await withLetters()
  const visited = await world.enter(person)
  const { keyboard } = visited.page
  const frame = await visited.open('files', 'Files')
  await item(frame, 'Letters').dblclick()
  await item(frame, 'below').click()
  await item(frame, 'two.txt').click({ modifiers: ['Control'] })
  const toolbar = frame.getByRole('toolbar', { name: 'Selection' })
  expect(await visited.flaws()).toEqual([])
  const some = await saved(visited, () => toolbar.getByRole('button', { name: 'Download' }).click())
  expect([some.name, some.held]).toEqual([
    'Letters (2 items).zip',
    {
      'below/': EMPTY,
      'below/Grüße „drei“ 🌳.txt': sha256Of('below/Grüße „drei“ 🌳.txt'),
      'two.txt': sha256Of('two.txt'),
    },
  ])
  await item(frame, 'two.txt').click()
  const one = await saved(visited, () => toolbar.getByRole('button', { name: 'Download' }).click())
  expect([one.name, one.bytes.toString()]).toEqual(['two.txt', 'two.txt'])

  await frame.getByRole('listbox').focus()
  await keyboard.press('Backspace')
  await item(frame, 'other.txt').click()
  await keyboard.press('Control+a')
  const all = await saved(visited, () => toolbar.getByRole('button', { name: 'Download' }).click())
  expect([all.name, all.held]).toEqual([
    'Files (3 items).zip',
    { 'Teamchat/': EMPTY, ...letters, 'other.txt': sha256Of('other') },
  ])
  expectQuiet(visited)
})

test('the files of a room are downloaded as an archive by its members', async () => {
  const [person, other] = [await world.person(), await world.person()]
  await makeRoom(world.server, 'Engines', person, other)
  await put(other.id, '/Teamchat/Engines/plans/one.txt', 'one')
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await item(frame, 'Teamchat').dblclick()
  await item(frame, 'Engines').click({ button: 'right' })
  const room = await saved(visited, () => frame.getByRole('menuitem', { name: 'Download' }).click())
  expect([room.name, room.held]).toEqual([
    'Engines.zip',
    { 'Engines/': EMPTY, 'Engines/plans/': EMPTY, 'Engines/plans/one.txt': sha256Of('one') },
  ])
  expectQuiet(visited)
})

test('more items than an address names are downloaded with their folder, or not at all', async () => {
  const person = await world.person()
  const { desktop } = world.server.local.domain.files
  for (let at = 0; at < 1_001; at++) await desktop.makeFolder(person.id, `/many/${at}`)
  await put(person.id, '/many/x', 'x')
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await item(frame, 'many').dblclick()
  await item(frame, '0').click()
  await visited.page.keyboard.press('Control+a')
  await frame.getByText('1,002 selected').waitFor()
  const button = frame.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Download' })
  const all = await saved(visited, () => button.click())
  expect([all.name, Object.keys(all.held).length]).toEqual(['many.zip', 1_003])
  await item(frame, '0').click({ modifiers: ['Control'] })
  await frame.getByText('1,001 selected').waitFor()
  await button.click()
  await frame.getByText('At most 1,000 items can be downloaded at once.').waitFor()
  expectQuiet(visited)
})
