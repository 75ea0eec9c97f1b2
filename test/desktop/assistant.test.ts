import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Frame } from 'playwright-core'
import { forgetConfirmations } from '../../src/storage/assistant/confirmations.ts'
import { deleteSessionsOf } from '../../src/storage/accounts/sessions.ts'
import { useModel } from '../support/assistant.ts'
import { PASSWORD } from '../support/browser.ts'
import { makeClock } from '../support/clock.ts'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'
import { lineOfTest } from '../support/line.ts'
import { startModelServer, type ModelServer } from '../support/model-server.ts'

let world: DesktopWorld
let model: ModelServer
beforeAll(async () => {
  model = await startModelServer()
  // Whether a wish still waits is seen by the browser's clock: the server's has to be near it.
  world = await startWorld({ clock: makeClock(Date.now()) })
})
beforeEach(() => useModel(world.server, model))
afterAll(async () => {
  await world?.close()
  await model?.close()
})

const HOSTILE =
  '<img src=x onerror="document.title=1"><script>document.title=1</script>[x](javascript:alert(1)) ![p](https://elsewhere.example/p.png) <form action="https://elsewhere.example"><input name="password"></form>'

/** A dot of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const domain = () => world.server.local.domain
const said = async ({ id }: Person) => {
  const { conversations } = domain().assistant
  const [newest] = await conversations.list(id)
  return newest ? (await conversations.messages(id, newest.conversation_id)).map(({ content }) => content) : []
}

const files = () => domain().files.desktop

async function put({ id }: Person, path: string, content: string | Buffer): Promise<void> {
  await files().write(id, path, { staged: await files().receive(Readable.from([Buffer.from(content)])) })
}

const namesOf = async ({ id }: Person) => (await files().list(id, '/')).map(({ name }) => name)

async function enter(person: Person, options = {}): Promise<[DesktopPage, Frame]> {
  const visited = await world.enter(person, options)
  return [visited, await visited.open('assistant', 'Assistant')]
}

const field = (frame: Frame) => frame.getByRole('textbox', { name: 'Ask the assistant' })
const answer = (frame: Frame, text: string) => frame.locator('.answer', { hasText: text }).last()
const button = (frame: Frame, name: string) => frame.getByRole('button', { name, exact: true })

async function ask(frame: Frame, text: string): Promise<void> {
  await field(frame).fill(text)
  await field(frame).press('Enter')
}

/** Has questions of a person answered without a page. */
const asker =
  ({ id, username }: Person) =>
  (question: { message: string; conversation_id?: number }) =>
    domain().assistant.ask({ id, username, display_name: 'Ada', avatar_color: '#336699', role: 'user' }, question, {
      signal: new AbortController().signal,
      emit: () => undefined,
    })

/** A promise, and what resolves it. */
function gate(): { until: Promise<void>; open: () => void } {
  let open = (): void => {}
  const until = new Promise<void>((resolve) => void (open = resolve))
  return { until, open }
}

test('an answer is shown as it comes, runs nothing, is read aloud, and is there after a reload', async () => {
  const person = await world.person()
  const [visited, frame] = await enter(person)
  const asked: string[] = []
  visited.page.on('request', (request) => asked.push(request.url()))
  const { until, open } = gate()
  model.will({ text: `# Tea\n\n${HOSTILE}\n\n| a |\n|---|\n| 1<br>2 |\n\nand so`, until })
  await ask(frame, `What is tea? ${HOSTILE}`)
  await answer(frame, 'and so').getByRole('heading', { name: 'Tea' }).waitFor()
  await button(frame, 'Stop').waitFor()
  await expect.poll(() => frame.locator('.answer[aria-busy=true]').count()).toBe(1)
  await field(frame).fill('Another thought')
  open()
  await button(frame, 'Send').waitFor()
  await button(frame, 'Copy').waitFor()

  await expect
    .poll(() => frame.locator('.answer-text :is(img, script, form, input, a[href^=javascript])').count())
    .toBe(0)
  await expect.poll(() => frame.locator('.question :is(img, script, a)').count()).toBe(0)
  await expect.poll(() => frame.locator('.answer-text td br').count()).toBe(1)
  expect(await frame.title()).toBe('assistant')
  await frame.locator('[aria-live=polite]', { hasText: 'and so' }).waitFor({ state: 'attached' })
  expect(asked.filter((url) => !url.startsWith(world.server.url))).toEqual([])
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)

  expect(await said(person)).toHaveLength(2)
  await visited.page.reload()
  const again = await visited.app('assistant')
  await answer(again, 'and so').waitFor()
  await expect.poll(() => field(again).inputValue()).toBe('Another thought')
  await expect.poll(() => again.locator('.conversation[aria-current]').count()).toBe(1)
})

test('a stopped answer ends the work of the server, and its question can be changed', async () => {
  const person = await world.person()
  const [visited, frame] = await enter(person)
  const left = model.left()
  model.will({ text: 'On and on', hang: true })
  await ask(frame, 'Talk')
  await answer(frame, 'On and on').waitFor()
  await button(frame, 'Stop').click()
  await answer(frame, 'The assistant will not remember').waitFor()
  await expect.poll(() => model.left()).toBe(left + 1)
  expect(await said(person)).toEqual([])
  expect(await visited.flaws()).toEqual([])
  await button(frame, 'Edit question').click()
  expect(await field(frame).inputValue()).toBe('Talk')

  model.will({ text: 'Still', hang: true })
  await ask(frame, 'Talk less')
  await answer(frame, 'Still').waitFor()
  await field(frame).press('Escape')
  await expect.poll(() => model.left()).toBe(left + 2)
  model.will({ text: 'Less.' })
  await button(frame, 'Ask again').click()
  await answer(frame, 'Less.').waitFor()
  await expect.poll(() => said(person)).toEqual(['Talk less', 'Less.'])
})

test('closing the window asks first while an answer is made, and then ends it', async () => {
  const [{ page }, frame] = await enter(await world.person())
  const left = model.left()
  model.will({ text: 'Long', hang: true })
  await ask(frame, 'Talk')
  await answer(frame, 'Long').waitFor()
  await page
    .getByRole('region', { name: /Assistant/ })
    .getByRole('button', { name: 'Close' })
    .click()
  await page.getByRole('button', { name: 'Close anyway' }).click()
  await expect.poll(() => model.left()).toBe(left + 1)
})

test('tools are shown as they happen; what they changed is undone and done again', async () => {
  const person = await world.person()
  const [visited, frame] = await enter(person)
  model.will(
    { calls: [{ name: 'write_file', arguments: { path: '/Packing.md', content: 'towel' } }] },
    { calls: [{ name: 'read_file', arguments: { path: '/Nowhere.md' } }] },
    { text: 'Packed.' },
  )
  await ask(frame, 'Pack')
  await frame.locator('.tool.done', { hasText: 'Write file /Packing.md' }).waitFor()
  await frame.locator('.tool.failed', { hasText: 'Read file /Nowhere.md' }).waitFor()
  await frame.getByRole('region', { name: 'Changes' }).getByText('created').waitFor()
  expect(await namesOf(person)).toContain('Packing.md')
  expect(await visited.flaws()).toEqual([])

  await button(frame, 'Undo').click()
  await frame.getByText('Undone.').waitFor()
  expect(await namesOf(person)).not.toContain('Packing.md')
  await button(frame, 'Redo').click()
  await button(frame, 'Undo').waitFor()
  expect(await namesOf(person)).toContain('Packing.md')

  await button(frame, 'What the assistant changed').click()
  const dialog = frame.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Pack' }).waitFor()
  expect(await visited.flaws()).toEqual([])
  await dialog
    .getByRole('listitem')
    .filter({ hasText: 'Pack' })
    .first()
    .getByRole('button', { name: 'Undo' })
    .last()
    .click()
  await expect.poll(() => namesOf(person)).not.toContain('Packing.md')
  expectQuiet(visited)
})

test('an undo leaves alone what was changed since, and says so', async () => {
  const person = await world.person()
  const [visited, frame] = await enter(person)
  model.will(
    { calls: [{ name: 'write_file', arguments: { path: '/Packing.md', content: 'towel' } }] },
    { text: 'Packed.' },
  )
  await ask(frame, 'Pack')
  await frame.getByRole('region', { name: 'Changes' }).getByText('created').waitFor()
  await put(person, '/Packing.md', 'towel, and my own socks')
  await button(frame, 'Undo').click()
  await frame.getByText('Some changes could not be undone:').waitFor()
  expect(await namesOf(person)).toContain('Packing.md')
  expect(await visited.flaws()).toEqual([])
  await button(frame, '/Packing.md').click()
  await visited.page.getByRole('region', { name: /Packing.md|Files/ }).waitFor()
})

test('of a long conversation the end is drawn, and more when it is wished', async () => {
  const person = await world.person()
  const asked = asker(person)
  const { conversation_id } = await asked({ message: 'Number 0' })
  for (let n = 1; n < 35; n++) await asked({ message: `Number ${n}`, conversation_id })
  const [, frame] = await enter(person)
  await frame.getByRole('button', { name: /^Number 0/ }).click()
  await frame.locator('.question', { hasText: 'Number 34' }).waitFor()
  await expect.poll(() => frame.getByRole('article').count()).toBe(60)
  await button(frame, 'Show earlier messages').click()
  await expect.poll(() => frame.getByRole('article').count()).toBe(70)
})

test('what cannot be taken back waits for a word: no leaves it, yes does it', async () => {
  const person = await world.person()
  await put(person, '/Old.txt', 'old')
  const [visited, frame] = await enter(person)
  const look = { calls: [{ name: 'list_files', arguments: { path: '/' } }] }
  const remove = { calls: [{ name: 'delete_file', arguments: { path: '/Old.txt' } }] }
  model.will(look, remove)
  await ask(frame, 'Clear up')
  const wish = frame.getByRole('region', { name: 'Allow this action?' })
  await wish.getByText('/Old.txt').waitFor()
  expect(await visited.flaws()).toEqual([])
  expect(await namesOf(person)).toContain('Old.txt')
  model.will({ text: 'I leave it.' })
  await wish.getByRole('button', { name: 'Decline' }).click()
  await answer(frame, 'I leave it.').waitFor()
  await frame.getByText('You declined this.').waitFor()
  expect(await namesOf(person)).toContain('Old.txt')

  model.will(remove)
  await ask(frame, 'Do delete it')
  await button(frame, 'Allow').waitFor()
  // The wish waits on the server: a page that was loaded anew can still say yes.
  await visited.page.reload()
  const again = await visited.app('assistant')
  model.will({ text: 'It is in the trash.' })
  await button(again, 'Allow').click()
  await answer(again, 'It is in the trash.').waitFor()
  await again.getByText('You allowed this.').waitFor()
  expect(await namesOf(person)).not.toContain('Old.txt')
  await button(again, 'Undo').click()
  await expect.poll(() => namesOf(person)).toContain('Old.txt')
})

test('a wish that was decided elsewhere is not done twice', async () => {
  const person = await world.person()
  const [, frame] = await enter(person)
  model.will(
    { calls: [{ name: 'list_files', arguments: { path: '/' } }] },
    { calls: [{ name: 'delete_file', arguments: { path: '/Old.txt' } }] },
  )
  await ask(frame, 'Clear up')
  await button(frame, 'Allow').waitFor()
  await world.server.database.write('instance', (tx) => forgetConfirmations(tx, Number.MAX_SAFE_INTEGER))
  await button(frame, 'Allow').click()
  await frame.getByText('This was already decided').waitFor()
})

test('a picture is chosen, pasted or dropped, and goes with the question; what is none is refused', async () => {
  await useModel(world.server, model, {
    'assistant.models': [{ id: 'talker', tools: true, vision: true, context: 32_768 }],
  })
  const [visited, frame] = await enter(await world.person())
  const chooser = frame.locator('input[type=file]')
  await chooser.setInputFiles({ name: 'fake.png', mimeType: 'image/png', buffer: Buffer.from('<svg onload=alert(1)>') })
  await frame.getByText('Only PNG, JPEG, GIF and WebP images can be attached').waitFor()
  const large = Buffer.concat([PNG, Buffer.alloc(8 * 1_048_576)])
  await chooser.setInputFiles({ name: 'large.png', mimeType: 'image/png', buffer: large })
  await frame.getByText('The image is too large. The limit is 8 MB').waitFor()
  await chooser.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: PNG })
  await frame.getByRole('img', { name: 'Image dot.png' }).waitFor()
  expect(await visited.flaws()).toEqual([])
  await button(frame, 'Remove the image').click()
  await frame.getByRole('img', { name: 'Image dot.png' }).waitFor({ state: 'detached' })

  for (const type of ['paste', 'drop']) {
    await frame.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File([Uint8Array.from(atob('${PNG.toString('base64')}'), (c) => c.charCodeAt(0))], '${type}.png'))
      const event = '${type}' === 'paste'
        ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
        : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
      document.querySelector('.composer textarea').dispatchEvent(event)
    }`)
    await frame.getByRole('img', { name: `Image ${type}.png` }).waitFor()
  }
  model.will({ text: 'A dot.' })
  await field(frame).press('Enter')
  await answer(frame, 'A dot.').waitFor()
  const { messages } = model.heard.at(-1)!
  expect(JSON.stringify(messages.at(-1)!.content)).toContain(PNG.toString('base64'))
  expect(JSON.stringify(messages.at(-1)!.content)).toContain('What is in this image?')
  await frame.locator('.question').getByRole('img', { name: 'Image drop.png' }).waitFor()
  expectQuiet(visited)
})

test('without a model an administrator is told what to set, and others whom to ask', async () => {
  await world.server.set('assistant.chat_model', '')
  const [visited, frame] = await enter(await world.person('admin'))
  await frame.getByText('svc config set assistant.chat_model MODEL').waitFor()
  expect(await visited.flaws()).toEqual([])
  const [, theirs] = await enter(await world.person())
  await theirs.getByText('An administrator can set one up.').waitFor()
  await expect.poll(() => theirs.getByText('svc config').count()).toBe(0)
  await ask(theirs, 'Hello?')
  await answer(theirs, 'The assistant is not available: No model is chosen').waitFor()

  await useModel(world.server, model)
  await button(frame, 'Check again').click()
  await frame.getByRole('heading', { name: 'What can I do for you, Ada?' }).waitFor()
  model.will({ text: 'Hello!' })
  await button(theirs, 'Ask again').click()
  await answer(theirs, 'Hello!').waitFor()
})

test('what the assistant does on the desktop happens there: wallpaper, apps', async () => {
  const person = await world.person()
  await put(person, '/My (dot) "1".png', PNG)
  const [visited, frame] = await enter(person)
  const { page } = visited
  const wallpaper = () => page.locator('html').getAttribute('data-wallpaper')
  await visited.open('notes', 'Notes')
  const loads: string[] = []
  page.on('framenavigated', (one) => loads.push(one.url()))
  model.will(
    {
      calls: [
        { name: 'set_wallpaper', arguments: { wallpaper: 'sea' } },
        { name: 'reload_app', arguments: { slug: 'notes' } },
        { name: 'reload_app', arguments: { slug: 'assistant' } },
        { name: 'refresh_apps', arguments: {} },
        { name: 'open_app', arguments: { slug: 'tasks' } },
      ],
    },
    { text: 'Nicer.' },
  )
  await page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Assistant, open' }).click()
  await ask(frame, 'Make it nicer')
  await page.getByRole('region', { name: 'Tasks' }).waitFor()
  await expect.poll(wallpaper).toBe('sea')
  await answer(frame, 'Nicer.').waitFor()
  await expect.poll(() => loads.some((url) => url.includes('/apps/notes/'))).toBe(true)
  expect(loads.some((url) => url.includes('/apps/assistant/'))).toBe(false)
  await page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Assistant, open' }).click()
  await button(frame, 'Undo').click()
  await expect.poll(wallpaper).toBe('dawn')

  model.will(
    { calls: [{ name: 'set_wallpaper', arguments: { wallpaper: '/My (dot) "1".png' } }] },
    { text: 'Your own.' },
  )
  const loaded = page.waitForResponse((response) => response.url().includes('action=download'))
  await ask(frame, 'My own picture')
  expect((await loaded).status()).toBe(200)
  await expect.poll(wallpaper).toBe('own')
  await answer(frame, 'Your own.').waitFor()
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('a line that breaks in the middle of an answer leaves what came, and the question', async () => {
  const person = await world.person()
  const line = await lineOfTest(world.server.url)
  const visited = await world.enter(person)
  await visited.page.goto(line.url)
  await visited.page.getByRole('navigation', { name: 'Dock' }).waitFor()
  const frame = await visited.open('assistant', 'Assistant')
  const left = model.left()
  model.will({ text: 'It begins', hang: true })
  await ask(frame, 'Tell me')
  await answer(frame, 'It begins').waitFor()
  line.cut()
  await answer(frame, 'The connection was lost before the answer was complete.').waitFor()
  await expect.poll(() => model.left()).toBe(left + 1)
  expect(await visited.flaws()).toEqual([])
  model.will({ text: 'It begins, and ends.' })
  await button(frame, 'Ask again').click()
  await answer(frame, 'and ends.').waitFor()
  expect(await said(person)).toEqual(['Tell me', 'It begins, and ends.'])
})

test('errors of the model and too much at once are said, and nothing typed is lost over a reload', async () => {
  const person = await world.person()
  const [visited, frame] = await enter(person)
  model.will({ status: 401 })
  await ask(frame, 'Precious question')
  await answer(frame, 'The model refuses this server').waitFor()
  await visited.page.reload()
  const again = await visited.app('assistant')
  await expect.poll(() => field(again).inputValue()).toBe('Precious question')

  const { until, open } = gate()
  model.will({ text: 'one', until }, { text: 'two', until })
  await ask(again, 'First')
  await answer(again, 'one').waitFor()
  await button(again, 'New conversation').click()
  await ask(again, 'Second')
  await answer(again, 'two').waitFor()
  await button(again, 'New conversation').click()
  await ask(again, 'Third')
  await answer(again, 'Too many requests').waitFor()
  await expect.poll(() => again.getByRole('img', { name: 'The assistant is working' }).count()).toBe(2)
  open()
  await again.getByRole('button', { name: /^First/ }).click()
  await answer(again, 'one').waitFor()
  await expect.poll(() => again.getByRole('img', { name: 'The assistant is working' }).count()).toBe(0)
})

test('what is written in a new conversation is not touched by another new one that gets its answer', async () => {
  const person = await world.person()
  const [visited, frame] = await enter(person)
  const { until, open } = gate()
  model.will({ text: 'one', until })
  await ask(frame, 'First')
  await answer(frame, 'one').waitFor()
  await button(frame, 'New conversation').click()
  await field(frame).fill('Second thought')
  open()
  await expect.poll(() => said(person)).toEqual(['First', 'one'])
  await frame.getByRole('img', { name: 'The assistant is working' }).waitFor({ state: 'detached' })
  expect(await field(frame).inputValue()).toBe('Second thought')
  await visited.page.reload()
  const again = await visited.app('assistant')
  await expect.poll(() => field(again).inputValue()).toBe('Second thought')
})

test('a new conversation begins empty while another waits, and a reload brings back what both hold', async () => {
  const [visited, frame] = await enter(await world.person())
  model.will({ status: 401 })
  await ask(frame, 'First')
  await answer(frame, 'The model refuses this server').waitFor()
  await button(frame, 'New conversation').click()
  model.will({ status: 401 })
  await ask(frame, 'Second')
  await expect.poll(() => frame.locator('.question').allTextContents()).toEqual(['Second'])
  await answer(frame, 'The model refuses this server').waitFor()
  await visited.page.reload()
  const again = await visited.app('assistant')
  await expect.poll(() => field(again).inputValue()).toBe('First\n\nSecond')
})

test('a session that ends waits for the sign-in, and the question is asked then', async () => {
  const person = await world.person()
  const [{ page }, frame] = await enter(person)
  model.will({ text: 'Welcome back.' })
  // The page may notice by itself that the session is over, and takes no text then.
  await field(frame).fill('Are you there?')
  await world.server.database.write('instance', (tx) => deleteSessionsOf(tx, person.id))
  await field(frame).press('Enter')
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await answer(frame, 'Welcome back.').waitFor()
  expect(await said(person)).toEqual(['Are you there?', 'Welcome back.'])
})

test('conversations are found, opened by path, deleted for good, and begun anew when deleted elsewhere', async () => {
  const person = await world.person()
  const asked = asker(person)
  const { assistant } = domain()
  for (let n = 1; n <= 9; n++) await asked({ message: `Question ${n}` })
  const [visited, frame] = await enter(person)
  await frame.getByRole('searchbox', { name: 'Search conversations' }).fill('question 3')
  await expect.poll(() => frame.locator('.conversation').count()).toBe(1)
  await frame.getByRole('button', { name: /^Question 3/ }).click()
  await answer(frame, 'Hello.').waitFor()
  await button(frame, 'Delete conversation').click()
  expect(await visited.flaws()).toEqual([])
  await frame.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await frame.getByText('Conversation deleted.').waitFor()
  expect((await assistant.conversations.list(person.id)).map(({ title }) => title)).not.toContain('Question 3')

  await frame.getByRole('searchbox', { name: 'Search conversations' }).fill('')
  await frame.getByRole('button', { name: /^Question 4/ }).click()
  await answer(frame, 'Hello.').waitFor()
  const four = (await assistant.conversations.list(person.id)).find(({ title }) => title === 'Question 4')!
  await assistant.conversations.remove(person.id, four.conversation_id)
  await ask(frame, 'And now?')
  await answer(frame, 'This conversation was deleted elsewhere.').waitFor()
  await button(frame, 'Ask again').click()
  await expect.poll(() => said(person)).toEqual(['And now?', 'Hello.'])
})

test('a text that is too long stays where it is', async () => {
  const [, frame] = await enter(await world.person())
  await field(frame).fill('x'.repeat(262_145))
  await field(frame).press('Enter')
  await frame.getByText('The text is too long. The limit is 262,144 characters').waitFor()
  expect((await field(frame).inputValue()).length).toBe(262_145)
})

test('on a phone, dark, in German', async () => {
  const person = await world.person()
  const visited = await world.enter(person, {
    viewport: { width: 390, height: 780 },
    colorScheme: 'dark',
    locale: 'de-DE',
    hasTouch: true,
  })
  await visited.page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'Assistent' }).tap()
  const frame = await visited.app('assistant')
  await frame.getByRole('heading', { name: 'Was kann ich für Sie tun, Ada?' }).waitFor()
  await button(frame, 'Was ist diese Woche fällig?').tap()
  const composer = frame.getByRole('textbox', { name: 'Den Assistenten fragen' })
  await expect.poll(() => composer.inputValue()).toBe('Was ist diese Woche fällig?')
  model.will({ text: `Nichts.\n\n${'lang '.repeat(200)}` })
  await button(frame, 'Senden').tap()
  await answer(frame, 'Nichts.').waitFor()
  const width = await frame.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth')
  expect(width).toBe(0)
  await button(frame, 'Unterhaltungen').tap()
  await frame.locator('.conversation').first().waitFor()
  expect(await visited.flaws()).toEqual([])
  await frame.locator('.conversation').first().tap()
  await answer(frame, 'Nichts.').waitFor()
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})
