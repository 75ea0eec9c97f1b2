import { Readable } from 'node:stream'
import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'
import { hasSharp, png } from '../support/pictures.ts'
import { makeRoom } from '../support/rooms.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const HOSTILE = '<img src=x onerror=alert(1)>.txt'

const files = () => world.server.local.domain.files

async function put(user: number, path: string, content: string | Uint8Array): Promise<void> {
  const { desktop } = files()
  await desktop.write(user, path, { staged: await desktop.receive(Readable.from([Buffer.from(content)])) })
}

const namesIn = async (user: number, path = '/') =>
  (await files().desktop.list(user, path)).map(({ name }) => name).filter((name) => name !== 'Teamchat')

const textOf = (user: number, path: string) => files().desktop.text(user, path)

const photosOf = async (user: number) => (await files().photos.list(user)).photos.map(({ path }) => path.slice(1))

const trashOf = async (user: number) => (await files().trash.list(user)).map(({ path }) => path)

const item = (frame: Frame, name: string) =>
  frame.getByRole('option').filter({ has: frame.getByTitle(name, { exact: true }) })

/** What is chosen in the browser's own dialog, without the dialog. */
const choose = (frame: Frame, all: { name: string; text: string }[]) =>
  frame
    .getByLabel('Upload files')
    .setInputFiles(all.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })))

test('files are uploaded, renamed, deleted and brought back', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await frame.getByRole('button', { name: 'New' }).click()
  await frame.getByRole('menuitem', { name: 'New folder' }).click()
  await frame.getByRole('textbox', { name: 'Name' }).fill('a/b')
  await frame.getByRole('button', { name: 'Create' }).click()
  await frame.getByText('This name or path is not allowed.').waitFor()
  expect(await namesIn(person.id)).toEqual([])
  await frame.getByRole('textbox', { name: 'Name' }).fill('Letters')
  await frame.getByRole('button', { name: 'Create' }).click()
  await item(frame, 'Letters').dblclick()
  await frame.getByText('This folder is empty').waitFor()
  await choose(frame, [
    { name: HOSTILE, text: 'one' },
    { name: 'two.txt', text: 'two' },
  ])
  await frame.getByText('2 files uploaded').waitFor()
  await item(frame, HOSTILE).waitFor()
  expect(await visited.flaws()).toEqual([])
  expect(await textOf(person.id, `/Letters/${HOSTILE}`)).toBe('one')

  await item(frame, 'two.txt').click()
  await visited.page.keyboard.press('F2')
  await frame.getByRole('textbox', { name: 'New name' }).fill('three.txt')
  await visited.page.keyboard.press('Enter')
  await item(frame, 'three.txt').waitFor()
  expect(await namesIn(person.id, '/Letters')).toEqual([HOSTILE, 'three.txt'])

  await item(frame, 'three.txt').click()
  await visited.page.keyboard.press('Delete')
  await item(frame, 'three.txt').waitFor({ state: 'detached' })
  expect(await trashOf(person.id)).toEqual(['/Letters/three.txt'])
  await frame.getByRole('button', { name: 'Undo' }).click()
  await item(frame, 'three.txt').waitFor()
  expect(await trashOf(person.id)).toEqual([])
  expect(await textOf(person.id, '/Letters/three.txt')).toBe('two')
  expectQuiet(visited)
})

test('a taken name is asked about, and nothing is overwritten unasked', async () => {
  const person = await world.person()
  await put(person.id, '/plan.txt', 'first')
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await item(frame, 'plan.txt').waitFor()
  const dialog = frame.getByRole('dialog', { name: 'Name already in use' })
  const answer = async (button: string) => {
    await choose(frame, [{ name: 'plan.txt', text: 'second' }])
    await dialog.waitFor()
    await dialog.getByRole('button', { name: button }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await choose(frame, [{ name: 'plan.txt', text: 'second' }])
  await dialog.waitFor()
  expect(await visited.flaws()).toEqual([])
  await dialog.getByRole('button', { name: 'Skip' }).click()
  expect(await textOf(person.id, '/plan.txt')).toBe('first')
  await answer('Keep both')
  await item(frame, 'plan (2).txt').waitFor()
  expect(await textOf(person.id, '/plan.txt')).toBe('first')
  await answer('Replace')
  await frame.getByText('1 file uploaded').waitFor()
  await expect.poll(() => textOf(person.id, '/plan.txt')).toBe('second')
  const { versions } = files()
  expect(await versions.list(person.id, '/plan.txt')).toHaveLength(2)
})

test('an item that replaces another is put back with it, and nothing is lost if it cannot be moved', async () => {
  const person = await world.person()
  await put(person.id, '/Photos/Photos/inner.txt', 'inner')
  await put(person.id, '/Photos/outer.txt', 'outer')
  await put(person.id, '/Photos/plan.txt', 'new')
  await put(person.id, '/plan.txt', 'old')
  const visited = await world.enter(person)
  const { page } = visited
  const frame = await visited.open('files', 'Files')
  const dialog = frame.getByRole('dialog', { name: 'Name already in use' })
  const moveUp = async (name: string, key = 'Control+x') => {
    await item(frame, 'Photos').dblclick()
    await item(frame, 'plan.txt').waitFor()
    await item(frame, name).click()
    await page.keyboard.press(key)
    await page.keyboard.press('Backspace')
    await item(frame, 'outer.txt').waitFor({ state: 'detached' })
    await item(frame, 'Photos').click()
    await page.keyboard.press('Control+v')
    await dialog.waitFor()
  }
  // A folder cannot be replaced by a part of itself.
  for (const key of ['Control+x', 'Control+c']) {
    await moveUp('Photos', key)
    expect(await dialog.getByRole('button', { name: 'Replace' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Skip' }).click()
  }
  expect(await trashOf(person.id)).toEqual([])

  await moveUp('plan.txt')
  // The move is refused when the replaced file is in the trash already.
  await page.route('**/api/filesystem.php?action=move*', (route) =>
    route.fulfill({ status: 400, json: { ok: false, code: 'too_many_files', error: 'No.' } }),
  )
  await dialog.getByRole('button', { name: 'Replace' }).click()
  await frame.getByText('You have reached the limit of files and folders.').waitFor()
  await expect.poll(() => trashOf(person.id)).toEqual([])
  expect(await textOf(person.id, '/plan.txt')).toBe('old')
  expect(await textOf(person.id, '/Photos/plan.txt')).toBe('new')
  await page.unroute('**/api/filesystem.php?action=move*')

  await moveUp('plan.txt')
  await dialog.getByRole('button', { name: 'Replace' }).click()
  await frame.getByText('Moved to “My files”.').waitFor()
  expect(await textOf(person.id, '/plan.txt')).toBe('new')
  await frame.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => trashOf(person.id)).toEqual([])
  expect(await textOf(person.id, '/plan.txt')).toBe('old')
  expect(await textOf(person.id, '/Photos/plan.txt')).toBe('new')
})

test('the trash shows what was deleted, brings it back, and empties itself only when told twice', async () => {
  const person = await world.person()
  for (const name of ['a.txt', 'b.txt', HOSTILE]) {
    await put(person.id, `/${name}`, name)
    await files().desktop.remove(person.id, `/${name}`)
  }
  await put(person.id, '/a.txt', 'a new one')
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await frame.getByRole('button', { name: 'Trash', exact: true }).click()
  await frame.getByRole('option', { name: /^<img/ }).waitFor()
  await frame.getByRole('option', { name: /^a.txt/ }).click()
  expect(await visited.flaws()).toEqual([])
  await frame.getByRole('button', { name: 'Restore', exact: true }).click()
  await frame.getByText('Restored as /a (2).txt.').waitFor()
  expect(await textOf(person.id, '/a.txt')).toBe('a new one')
  expect(await textOf(person.id, '/a (2).txt')).toBe('a.txt')
  await frame.getByRole('button', { name: 'Empty trash' }).click()
  await frame.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  expect(await trashOf(person.id)).toHaveLength(2)
  await frame.getByRole('button', { name: 'Empty trash' }).click()
  await frame.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click()
  await frame.getByText('The trash is empty').waitFor()
  expect(await trashOf(person.id)).toEqual([])
})

test('ten thousand files scroll as few rows, and the keyboard selects, finds and deletes among them', async () => {
  const person = await world.person()
  for (let number = 0; number < 40; number++) await put(person.id, `/many/${String(number).padStart(5, '0')}.txt`, 'x')
  const visited = await world.enter(person)
  const { page } = visited
  // The list is what is measured here, not the server.
  await page.route('**/api/filesystem.php?action=list*', async (route) => {
    const answer = await route.fetch()
    const body = (await answer.json()) as { path: string; items: { name: string }[] }
    if (body.path === '/many' && body.items.length === 40) {
      const [first] = body.items
      for (let number = 40; number < 10_000; number++)
        body.items.push({ ...first!, name: `${String(number).padStart(5, '0')}.txt` })
    }
    await route.fulfill({ response: answer, json: body })
  })
  const frame = await visited.open('files', 'Files')
  await item(frame, 'many').dblclick()
  await frame.getByText('10,000 items').waitFor()
  expect(await frame.getByRole('option').count()).toBeLessThan(60)
  await frame.getByRole('listbox').focus()
  await page.keyboard.press('End')
  await item(frame, '09999.txt').waitFor()
  await page.keyboard.type('00005')
  await item(frame, '00005.txt').waitFor()
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  await frame.getByText('3 selected').waitFor()
  await page.keyboard.press('Delete')
  await frame.getByText('3 items were moved to the trash.').waitFor()
  expect((await trashOf(person.id)).toSorted()).toEqual(['/many/00005.txt', '/many/00006.txt', '/many/00007.txt'])
})

test('what changes elsewhere appears by itself', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await item(frame, 'Teamchat').waitFor()
  await put(person.id, '/from the laptop.txt', 'x')
  await item(frame, 'from the laptop.txt').waitFor()
  await files().desktop.erase(person.id, '/from the laptop.txt')
  await item(frame, 'from the laptop.txt').waitFor({ state: 'detached' })
})

/** Drops files and folders from outside on an element, as a browser hands them over. */
const drop = (frame: Frame, selector: string, tree: Record<string, string>) =>
  frame
    .locator(selector)
    .first()
    .evaluate((element, all) => {
      const entryOf = (name: string, paths: [string[], string][]): object => {
        const own = paths.find(([path]) => path.length === 0)
        if (own) return { name, isFile: true, file: (take: (file: File) => void) => take(new File([own[1]], name)) }
        const names = [...new Set(paths.map(([path]) => path[0]!))].filter((inner) => inner !== '')
        const inner = names.map((one) =>
          entryOf(
            one,
            paths.filter(([path]) => path[0] === one).map(([path, text]) => [path.slice(1), text]),
          ),
        )
        return {
          name,
          isFile: false,
          createReader: () => ({ readEntries: (take: (entries: object[]) => void) => take(inner.splice(0, 100)) }),
        }
      }
      const paths = Object.entries(all).map(([path, text]): [string[], string] => [path.split('/'), text])
      const items = [...new Set(paths.map(([path]) => path[0]!))].map((name) => ({
        webkitGetAsEntry: () =>
          entryOf(
            name,
            paths.filter(([path]) => path[0] === name).map(([path, text]) => [path.slice(1), text]),
          ),
      }))
      const event = new Event('drop', { bubbles: true, cancelable: true })
      Object.defineProperty(event, 'dataTransfer', { value: { types: ['Files'], files: [], items } })
      element.dispatchEvent(event)
    }, tree)

test('whole folders are dropped, what fails says why, and an upload that broke off is tried again', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await item(frame, 'Teamchat').waitFor()
  await drop(frame, '.folder', { 'trip/day 1/a.txt': 'a', 'trip/b.txt': 'b', 'trip/nothing/': '' })
  await frame.getByText('3 files uploaded').waitFor()
  expect(await namesIn(person.id, '/trip')).toEqual(['day 1', 'nothing', 'b.txt'])
  expect(await textOf(person.id, '/trip/day 1/a.txt')).toBe('a')

  let isCut = true
  await visited.page.route('**/api/filesystem.php?action=upload*', (route) =>
    isCut ? route.abort() : route.continue(),
  )
  await choose(frame, [{ name: 'late.txt', text: 'late' }])
  await frame.getByText('1 upload failed').waitFor()
  expect(await visited.flaws()).toEqual([])
  isCut = false
  await frame.getByRole('button', { name: 'Try “late.txt” again' }).click()
  await item(frame, 'late.txt').waitFor()
  await expect.poll(() => textOf(person.id, '/late.txt')).toBe('late')
})

test('a text that was changed elsewhere while it was written is not overwritten', async () => {
  const person = await world.person()
  await put(person.id, '/plan.md', '# First')
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await item(frame, 'plan.md').dblclick()
  await frame.getByRole('heading', { name: 'First', exact: true }).waitFor()
  await frame.getByRole('button', { name: 'Edit' }).click()
  const text = frame.getByRole('textbox', { name: 'Text of plan.md' })
  await text.fill('mine')
  await put(person.id, '/plan.md', 'theirs')
  await frame.getByText('This file was changed elsewhere').waitFor()
  expect(await visited.flaws()).toEqual([])
  await frame.getByRole('button', { name: 'Save my version as a copy' }).click()
  await text.getByText('theirs').waitFor()
  expect(await textOf(person.id, '/plan.md')).toBe('theirs')
  expect(await textOf(person.id, '/plan (2).md')).toBe('mine')
  await text.fill('better')
  await visited.page.keyboard.press('Control+s')
  await frame.getByText('Saved', { exact: true }).waitFor()
  expect(await textOf(person.id, '/plan.md')).toBe('better')

  await frame.getByRole('button', { name: 'Versions' }).click()
  const versions = frame.getByRole('dialog', { name: 'Versions of plan.md' })
  await versions.getByRole('button', { name: 'Show' }).last().click()
  await versions.getByText('# First').waitFor()
  expect(await visited.flaws()).toEqual([])
  await versions
    .getByRole('button', { name: /^Restore/ })
    .last()
    .click()
  await text.getByText('# First').waitFor()
  expect(await textOf(person.id, '/plan.md')).toBe('# First')
  expectQuiet(visited)
})

test('a text for which the storage of the browser has no room stays in its window, and the drafts beside it are kept', async () => {
  const person = await world.person()
  await put(person.id, '/small.txt', 'small')
  await put(person.id, '/large.txt', `${'x'.repeat(99)}\n`.repeat(12_000))
  const visited = await world.enter(person)
  const { page } = visited
  // Chromium stores 5,242,880 characters.
  await page.evaluate("localStorage.setItem('other', 'x'.repeat(4_200_000))")
  const frame = await visited.open('files', 'Files')
  /** Types before the text of a file, and goes back. */
  const edit = async (name: string) => {
    await item(frame, name).dblclick()
    await frame.getByRole('textbox', { name: `Text of ${name}` }).click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('mine ')
    await frame.getByText('Not saved yet').waitFor()
    await frame.getByRole('button', { name: 'Back' }).click()
  }
  await edit('small.txt')
  await edit('large.txt')
  await page.getByRole('region', { name: 'Files' }).getByRole('button', { name: 'Close' }).click()
  await page.getByRole('heading', { name: 'Close without saving?' }).waitFor()
  await page.keyboard.press('Escape')
  for (const name of ['large.txt', 'small.txt']) {
    await item(frame, name).dblclick()
    await frame
      .getByRole('textbox', { name: `Text of ${name}` })
      .getByText(/^mine /)
      .waitFor()
    await frame.getByRole('button', { name: 'Save', exact: true }).click()
    await frame.getByText('Saved', { exact: true }).waitFor()
    await frame.getByRole('button', { name: 'Back' }).click()
  }
  expect(await textOf(person.id, '/large.txt')).toMatch(/^mine x/)
  await page.getByRole('region', { name: 'Files' }).getByRole('button', { name: 'Close' }).click()
  await page.locator('iframe[data-app="files"]').waitFor({ state: 'detached' })
})

test('an edit changes no line break of a text but its own', async () => {
  const person = await world.person()
  await put(person.id, '/mixed.txt', 'one\r\ntwo\r\nthree\nfour\r\n')
  const visited = await world.enter(person)
  const { keyboard } = visited.page
  const frame = await visited.open('files', 'Files')
  await item(frame, 'mixed.txt').dblclick()
  await frame.getByText('two').click()
  await keyboard.press('Home')
  await keyboard.type('a')
  await keyboard.press('Enter')
  await frame.getByText('four').click()
  await keyboard.press('Home')
  await keyboard.press('Backspace')
  await keyboard.press('Control+s')
  await frame.getByText('Saved', { exact: true }).waitFor()
  expect(await textOf(person.id, '/mixed.txt')).toBe('one\r\na\r\ntwo\r\nthreefour\r\n')
})

test('files move with the dialog and by dragging, and back; rooms keep theirs', async () => {
  const person = await world.person()
  await makeRoom(world.server, 'Garden', person)
  await put(person.id, '/box/in it.txt', 'x')
  await put(person.id, '/a.txt', 'a')
  await put(person.id, '/b.txt', 'b')
  const visited = await world.enter(person)
  const { page } = visited
  const frame = await visited.open('files', 'Files')
  await item(frame, 'a.txt').click({ button: 'right' })
  await frame.getByRole('menuitem', { name: 'Move to …' }).click()
  const dialog = frame.getByRole('dialog')
  await dialog.getByRole('option', { name: 'box' }).click()
  expect(await visited.flaws()).toEqual([])
  await dialog.getByRole('button', { name: 'Move to “box”' }).click()
  await frame.getByText('Moved to “box”.').waitFor()
  expect(await namesIn(person.id, '/box')).toEqual(['a.txt', 'in it.txt'])
  await frame.getByRole('button', { name: 'Undo' }).click()
  await item(frame, 'a.txt').waitFor()

  await item(frame, 'b.txt').dragTo(item(frame, 'box'))
  await item(frame, 'b.txt').waitFor({ state: 'detached' })
  expect(await namesIn(person.id, '/box')).toEqual(['b.txt', 'in it.txt'])

  await item(frame, 'a.txt').click()
  await page.keyboard.press('Control+x')
  await frame.getByRole('button', { name: 'Room files' }).click()
  await item(frame, 'Garden').dblclick()
  await frame.getByText('All members of this room can view and change these files.').waitFor()
  await frame.getByRole('button', { name: 'New' }).click()
  await frame.getByRole('menuitem', { name: 'New text file' }).click()
  await frame.getByRole('button', { name: 'Create' }).click()
  await item(frame, 'New text.md').waitFor()
  await frame.getByRole('listbox').focus()
  await page.keyboard.press('Control+v')
  await frame.getByText('Files cannot be moved or copied between your own files and room files').waitFor()
  expect(await namesIn(person.id)).toEqual(['box', 'a.txt'])
  expect(await visited.flaws()).toEqual([])
})

test('pictures are shown without running what is in them, and a phone has everything', async () => {
  const person = await world.person()
  await put(
    person.id,
    '/pic.svg',
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>parent.postMessage(1)</script><rect width="9" height="9"/></svg>',
  )
  await put(person.id, '/thing.bin', Buffer.from([0, 1, 2]))
  const options = { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'dark' } as const
  const visited = await world.enter(person, options)
  const frame = await visited.open('files', 'Files')
  await item(frame, 'pic.svg').tap()
  await expect.poll(() => frame.evaluate("document.querySelector('.shown img')?.naturalWidth")).toBe(40)
  expect(await visited.flaws()).toEqual([])
  await frame.getByRole('button', { name: 'Back' }).click()
  // Videos have the whole screen on request.
  await frame.evaluate('document.documentElement.requestFullscreen().then(() => document.exitFullscreen())')
  await item(frame, 'thing.bin').tap()
  await frame.getByText('No preview is available for this type of file').waitFor()
  await frame.getByRole('button', { name: 'Back' }).click()
  await item(frame, 'pic.svg').locator('.picture').tap()
  await frame.getByText('1 selected').waitFor()
  expect(await visited.flaws()).toEqual([])
  await frame.getByRole('button', { name: 'Locations' }).click()
  await frame.getByRole('button', { name: 'Trash' }).click()
  await frame.getByText('The trash is empty').waitFor()
  expectQuiet(visited)
})

/** Presses keys after the frame has painted, and before it paints again; between them it renders. */
const pressAtOnce = (frame: Frame, keys: string[]) =>
  frame.evaluate(`(async () => {
    const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    for (let frames = 0; frames < 3; frames++) await painted()
    await new Promise((resolve) => requestAnimationFrame(resolve))
    for (const key of ${JSON.stringify(keys)}) {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
      for (let steps = 0; steps < 20; steps++) await null
    }
  })()`)

test.runIf(hasSharp)('images have thumbnails, by the server or the browser, and a viewer with keys', async () => {
  const person = await world.person()
  const colours = { a: [200, 60, 30], b: [30, 120, 200], c: [40, 160, 60] }
  for (const [name, colour] of Object.entries(colours)) await put(person.id, `/${name}.png`, png(600, 400, colour))
  await put(person.id, '/bad.png', 'not an image')
  const visited = await world.enter(person)
  const { page } = visited
  const frame = await visited.open('files', 'Files')
  const widths = () =>
    frame.evaluate("[...document.querySelectorAll('img.thumbnail')].map((image) => image.naturalWidth)")
  await expect.poll(widths).toEqual([128, 128, 128])
  await frame.getByRole('button', { name: 'Show as tiles' }).click()
  await expect.poll(widths).toEqual([256, 256, 256])
  await item(frame, 'bad.png').locator('svg').waitFor()
  expect(await visited.flaws()).toEqual([])

  await item(frame, 'a.png').click()
  await page.keyboard.press('Enter')
  const shown = (name: string) => frame.getByRole('img', { name }).waitFor()
  await shown('a.png')
  await page.keyboard.press('1')
  await frame.getByText('100 %').waitFor()
  await page.keyboard.press('+')
  await frame.getByText('150 %').waitFor()
  await expect.poll(() => frame.evaluate("document.querySelector('.shown img').width")).toBe(900)
  await page.keyboard.press('0')
  await frame.getByText('Fit', { exact: true }).waitFor()
  await page.keyboard.press('ArrowRight')
  await shown('b.png')
  await page.keyboard.press('f')
  await frame.getByRole('button', { name: 'Exit full screen' }).waitFor()
  await page.keyboard.press('s')
  await frame.getByRole('button', { name: 'Stop slide show' }).waitFor()
  expect(await visited.flaws()).toEqual([])
  await page.keyboard.press('f')
  await frame.getByRole('button', { name: 'Start slide show' }).waitFor()
  await frame.getByRole('button', { name: 'Back' }).click()

  await files().desktop.remove(person.id, '/bad.png')
  await frame.getByRole('button', { name: 'Photos' }).click()
  await frame
    .getByRole('option', { name: /^b.png/ })
    .locator('img')
    .waitFor()
  expect(await visited.flaws()).toEqual([])
  await frame.getByRole('listbox').focus()
  for (const key of ['Home', 'ArrowRight', 'Enter']) await page.keyboard.press(key)
  const [, second, third] = await photosOf(person.id)
  await shown(second!)
  // Keys that follow each other faster than the browser paints go to what is shown by then.
  await page.keyboard.press('1')
  await frame.getByText('100 %').waitFor()
  await pressAtOnce(frame, ['0', 'ArrowRight'])
  await shown(third!)
  await page.keyboard.press('1')
  await frame.getByText('100 %').waitFor()
  await pressAtOnce(frame, ['Escape', 'ArrowRight'])
  await frame.getByRole('listbox', { name: 'Photos' }).waitFor()

  await world.server.set('thumbnails.max_bytes', 0)
  onTestFinished(() => world.server.set('thumbnails.max_bytes', undefined))
  await put(person.id, '/d.png', png(500, 300))
  const other = await world.enter(person)
  const opened = await other.open('files', 'Files')
  await item(opened, 'd.png').locator('img').waitFor()
  await expect.poll(() => opened.evaluate("document.querySelector('img.thumbnail').naturalWidth")).toBe(128)
  for (const each of [visited, other]) expectQuiet(each)
})

test('a full storage says so, and stores nothing', async () => {
  const person = await world.person()
  await world.server.database.write('instance', (tx) =>
    tx.q.updateTable('users').set({ quota_bytes: 10 }).where('id', '=', person.id).execute(),
  )
  const visited = await world.enter(person)
  const frame = await visited.open('files', 'Files')
  await item(frame, 'Teamchat').waitFor()
  await choose(frame, [{ name: 'large.txt', text: 'x'.repeat(100) }])
  await frame.getByText('Your storage is full').waitFor()
  expect(await namesIn(person.id)).toEqual([])
})
