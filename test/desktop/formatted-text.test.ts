import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const contentsOf = async (user: number) =>
  (
    (await rowsAndCursorOf(world.server.local.domain.sync, user, ['svc_notes'])).data['svc_notes'] as unknown as {
      title: string
      content: string
    }[]
  ).map(({ title, content }) => [title, content] as const)

/** A person with notes; the first one is open. */
async function withNotes(...notes: readonly (readonly [title: string, content: string])[]) {
  const person = await world.person()
  const operations = notes.map(([title, content]) => ({
    table: 'svc_notes',
    operation: 'INSERT',
    data: { title, content },
  }))
  await world.server.local.domain.sync.push(person.id, { operations } as never, undefined)
  const visited = await world.enter(person)
  const app = await visited.open('notes', 'Notes')
  await app.getByRole('option', { name: new RegExp(`^${notes[0]![0]}`) }).click()
  const text = app.getByRole('textbox', { name: 'Text of the note' })
  await text.waitFor()
  return { visited, app, text, contents: () => contentsOf(person.id), keyboard: visited.page.keyboard }
}

/** The lines as they are seen: hidden marks are not in the document of the browser. */
const linesOf = (app: Frame) => app.locator('.cm-line').allTextContents()

const saved = (app: Frame) => app.getByText('Saved', { exact: true }).waitFor()

const EVERYTHING = [
  '# Trip to Lisbon',
  '',
  'Some **bold**, *italic*, ~~old~~, `code`, \\*stars\\* and a [link](https://example.org/a_(b)).',
  '- [ ] Book',
  '- [x] Ask',
  '  - nested',
  '> quoted',
  '',
  '| City | Nights |',
  '| --- | ---: |',
  '| Lisbon | 3 |',
  '',
  '---',
  '```js',
  'const x = 1',
  '```',
  '',
].join('\n')

test('a note opens as formatted text, its Markdown is a click away, and looking at it changes nothing', async () => {
  const { visited, app, text, contents, keyboard } = await withNotes(['Trip', EVERYTHING])
  await app.getByRole('table').waitFor()
  expect((await linesOf(app)).slice(0, 7)).toEqual([
    'Trip to Lisbon',
    '',
    'Some bold, italic, old, code, *stars* and a link.',
    ' Book',
    ' Ask',
    '  • nested',
    'quoted',
  ])
  expect(await app.getByRole('link', { name: 'link' }).getAttribute('href')).toBe('https://example.org/a_(b)')
  expect(await app.getByRole('checkbox', { name: 'Ask' }).isChecked()).toBe(true)
  expect(await visited.flaws()).toEqual([])

  await text.click()
  for (const key of ['Control+Home', 'ArrowDown', 'ArrowDown', 'End', 'Control+End', 'Control+A', 'ArrowLeft']) {
    await keyboard.press(key)
  }
  // In the line of the cursor the marks can be edited.
  expect((await linesOf(app))[0]).toBe('# Trip to Lisbon')
  await app.getByRole('button', { name: 'Show Markdown' }).click()
  await expect.poll(async () => (await linesOf(app)).join('\n')).toBe(EVERYTHING)
  expect(await app.getByRole('checkbox').count()).toBe(0)
  expect(await visited.flaws()).toEqual([])
  expect(await contents()).toEqual([['Trip', EVERYTHING]])
  expectQuiet(visited)
})

test('a box is ticked with a click or with keys, and that can be undone', async () => {
  const { app, text, contents, keyboard } = await withNotes(['List', '- [ ] Tea\n- [x] Milk'])
  await app.getByRole('checkbox', { name: 'Tea' }).click()
  await expect.poll(contents).toEqual([['List', '- [x] Tea\n- [x] Milk']])
  await text.getByText('Milk').click()
  await keyboard.press('Control+Enter')
  await expect.poll(contents).toEqual([['List', '- [x] Tea\n- [ ] Milk']])
  await keyboard.press('Control+z')
  await keyboard.press('Control+z')
  await expect.poll(contents).toEqual([['List', '- [ ] Tea\n- [x] Milk']])
})

test('buttons and keys format the selection, and take the format off again', async () => {
  const { app, text, contents, keyboard } = await withNotes(['Plan', 'one two\nthree'])
  const press = (name: string | RegExp) => app.getByRole('button', { name }).click()
  await text.getByText('one two').click()
  await keyboard.press('Home')
  await keyboard.press('Shift+Control+ArrowRight')
  await press(/^Bold/)
  await expect.poll(contents).toEqual([['Plan', '**one** two\nthree']])
  await keyboard.press('Control+i')
  await expect.poll(contents).toEqual([['Plan', '***one*** two\nthree']])
  await keyboard.press('Control+i')
  await keyboard.press('Control+b')
  await expect.poll(contents).toEqual([['Plan', 'one two\nthree']])

  await keyboard.press('Control+A')
  await press('Checklist')
  await expect.poll(contents).toEqual([['Plan', '- [ ] one two\n- [ ] three']])
  await press('Numbered list')
  await expect.poll(contents).toEqual([['Plan', '1. one two\n2. three']])
  await press('Numbered list')
  await press('Heading')
  await press('Heading')
  await expect.poll(contents).toEqual([['Plan', '## one two\n## three']])
  await press('Heading')
  await press('Heading')
  await press('Quote')
  await press('Quote')
  await expect.poll(contents).toEqual([['Plan', 'one two\nthree']])

  // The next line of a list is one, too.
  await keyboard.press('Control+End')
  await press('Bulleted list')
  await keyboard.type(' and')
  await keyboard.press('Enter')
  await keyboard.type('four')
  await expect.poll(contents).toEqual([['Plan', 'one two\n- three and\n- four']])
})

test('notes are linked by their title, which is offered while it is typed', async () => {
  const { app, text, contents, keyboard } = await withNotes(['Trip', ''], ['Tea', 'Earl Grey'], ['Teacup', 'blue'])
  await text.click()
  await keyboard.type('See [[Teac')
  await app.locator('.cm-tooltip-autocomplete').getByText('Teacup').waitFor()
  await keyboard.press('Enter')
  await keyboard.type(' and [[Lisbon]].')
  await expect.poll(contents).toContainEqual(['Trip', 'See [[Teacup]] and [[Lisbon]].'])
  await saved(app)
  await app.getByRole('textbox', { name: 'Title' }).focus()
  await app.getByRole('link', { name: 'Teacup' }).click()
  await app.getByRole('textbox', { name: 'Text of the note' }).getByText('blue').waitFor()

  // A note that does not exist yet is made.
  await app.getByRole('option', { name: /^Trip/ }).click()
  await app.getByRole('link', { name: 'Lisbon' }).click()
  await expect.poll(() => app.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Lisbon')
  await expect.poll(contents).toContainEqual(['Lisbon', ''])
})

test('what a stranger wrote runs nothing, loads nothing and leads nowhere by itself', async () => {
  const { visited, app, text } = await withNotes([
    'Hostile',
    [
      'first',
      '',
      '[run](javascript:document.title=1) <javascript:alert(1)> [data](data:text/html,x)',
      '![picture](https://example.org/spy.png) ![inline](data:image/gif;base64,R0lGODlhAQABAAAAACw=)',
      '| <img src=x onerror="document.title=1"> |',
      '| --- |',
      '| <script>document.title=1</script>[y](javascript:alert(1)) |',
      '',
      '- [ ] <b onclick="alert(1)">bold</b>',
      `${'['.repeat(5_000)}${'**'.repeat(2_000)}`,
    ].join('\n'),
  ])
  await text.getByText('first').waitFor()
  await app.getByRole('checkbox').waitFor()
  expect(await app.locator('.editor a[href]').count()).toBe(0)
  const sources = await app
    .locator('.editor img:not(.cm-widgetBuffer)')
    .evaluateAll((all) => all.map((one) => one.outerHTML))
  expect(sources).toHaveLength(1)
  expect(sources[0]).toContain('src="data:image/gif')
  expect(await app.title()).toBe('notes')
  // The browser says of a handler in Markdown that it was not run.
  expect(visited.complaints.filter((said) => !/inline event handler .* blocked[.]/.test(said))).toEqual([])
})

test('of a text of a hundred thousand characters only what is seen is drawn', async () => {
  const { app, text, contents, keyboard } = await withNotes(['Long', '- [ ] **a** [[b]]\n'.repeat(5_000)])
  await app.getByRole('checkbox').first().waitFor()
  expect(await app.locator('.cm-line').count()).toBeLessThan(300)
  await text.click()
  await keyboard.press('Control+End')
  await keyboard.type('# End')
  await keyboard.press('Enter')
  await app.locator('.heading-1', { hasText: /^End$/ }).waitFor()
  await expect.poll(async () => (await contents())[0]?.[1].endsWith('\n# End\n')).toBe(true)
})

test('a text that is all marks does not stop the editor', async () => {
  const hostile = `${'> '.repeat(3_000)}x\n\n${'**a'.repeat(20_000)}\n\n| a |\n| - |\n${'| b |\n'.repeat(20_000)}`
  const { app, text, contents, keyboard } = await withNotes(['Hostile', hostile])
  await text.waitFor()
  expect(await app.locator('.cm-line').count()).toBeLessThan(300)
  expect(await app.locator('.editor table').count()).toBe(0)
  await text.click()
  await keyboard.press('Control+End')
  await keyboard.type('end')
  await expect.poll(async () => (await contents())[0]?.[1].endsWith('end')).toBe(true)
})

test('what no row can hold is left out or replaced when it is pasted', async () => {
  const { app, text, contents } = await withNotes(['Paste', ''])
  await text.click()
  await app.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', 'a\\0b\\ud800c 😀')
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    document.querySelector('.cm-content').dispatchEvent(paste)
  }`)
  await expect.poll(async () => (await contents())[0]?.[1]).toBe('ab\ufffdc 😀')
})
