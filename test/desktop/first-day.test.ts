import type { Frame, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PASSWORD } from '../support/browser.ts'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

// What somebody does on the first day, by what is written on the screen, with a mouse or with fingers alone.

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld({ indexAfterMs: 0 })))
afterAll(() => world?.close())

const sizes = {
  'desktop with a mouse': { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
}

interface User extends DesktopPage {
  person: Person
  press(target: Locator): Promise<void>
  /** Opens an app as its name says, from the dock or from all apps. */
  start(slug: string, name: string): Promise<Frame>
}

describe.each(Object.entries(sizes))('On a %s', (size, options) => {
  const isPhone = size === 'phone'
  const press = (target: Locator): Promise<void> => (isPhone ? target.tap() : target.click())

  /** Somebody who signs in for the first time. */
  async function newcomer(role: 'user' | 'admin' = 'user'): Promise<User> {
    const person = await world.person(role)
    const visited = await world.visit(options)
    const { page } = visited
    await page.getByLabel('User name').fill(person.username)
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    await press(page.getByRole('button', { name: 'Sign in' }))
    await page.getByText(', Ada').waitFor()
    return {
      ...visited,
      person,
      press,
      async start(slug, name) {
        await press(page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'All apps' }))
        await press(page.getByRole('dialog').getByRole('button', { name, exact: true }))
        const frame = await visited.app(slug)
        await frame.locator('#root > *').first().waitFor()
        return frame
      },
    }
  }

  const rowsOf = async ({ person }: User, table: string) =>
    (await rowsAndCursorOf(world.server.local.domain.sync, person.id, [table])).data[table] as Record<string, unknown>[]

  test('files are put into a folder, found by what is in them, deleted and brought back', async () => {
    const user = await newcomer()
    const { files: stored, search } = world.server.local.domain
    const files = await user.start('files', 'Files')
    const item = (name: string) => files.getByRole('option').filter({ has: files.getByTitle(name, { exact: true }) })
    await press(files.getByRole('button', { name: 'New' }))
    await press(files.getByRole('menuitem', { name: 'New folder' }))
    await files.getByRole('textbox', { name: 'Name' }).fill('Letters')
    await press(files.getByRole('button', { name: 'Create' }))
    await (isPhone ? item('Letters').tap() : item('Letters').dblclick())
    await files.getByText('This folder is empty').waitFor()
    const sent = [
      { name: 'babbage.txt', mimeType: 'text/plain', buffer: Buffer.from('The mill grinds numbers.') },
      { name: 'menabrea.txt', mimeType: 'text/plain', buffer: Buffer.from('On the engine.') },
    ]
    await files.getByLabel('Upload files').setInputFiles(sent)
    await files.getByText('2 files uploaded').waitFor()

    // Fingers select on the icon, and a mouse on the line.
    const select = (name: string) => (isPhone ? item(name).locator('.picture').tap() : item(name).click())
    await select('menabrea.txt')
    await press(files.getByRole('button', { name: 'Delete' }))
    await item('menabrea.txt').waitFor({ state: 'detached' })
    await press(files.getByRole('button', { name: 'Undo' }))
    await item('menabrea.txt').waitFor()

    // What was sent is searchable within seconds.
    await expect
      .poll(async () => (await search.find(user.person.id, { query: 'grinds' })).results.length, { timeout: 20_000 })
      .toBe(1)
    const find = user.page.getByRole('searchbox', { name: 'Search everything' })
    await press(user.page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name: 'All apps' }))
    await find.fill('grinds')
    await press(user.page.getByRole('dialog').getByRole('button', { name: /babbage\.txt/ }))
    await files.getByText('The mill grinds numbers.').waitFor()
    expect((await stored.desktop.list(user.person.id, '/Letters')).map(({ name }) => name)).toEqual([
      'babbage.txt',
      'menabrea.txt',
    ])
    expect(await user.flaws()).toEqual([])
    expectQuiet(user)
  })

  test('the team is written to, and answers arrive wherever one is', async () => {
    const [ada, bob] = [await newcomer(), await newcomer()]
    const chat = await ada.start('chat', 'Team chat')
    await press(chat.getByRole('button', { name: 'New direct message' }).first())
    await chat.getByRole('searchbox', { name: 'Find people' }).fill(bob.person.username)
    await press(chat.getByRole('dialog').getByRole('button', { name: bob.person.username }))
    await chat.getByRole('textbox', { name: /^Message to/ }).fill('Is the mill **ready**?')
    await press(chat.getByRole('button', { name: 'Send' }))

    // Bob has nothing open: the home screen says it, and leads there.
    await press(bob.page.getByRole('list', { name: 'Today' }).getByRole('button', { name: '1 unread message' }))
    const theirs = await bob.app('chat')
    await press(theirs.getByRole('button', { name: /Ada/ }).first())
    await theirs.locator('.message', { hasText: 'Is the mill ready?' }).waitFor()
    await theirs.getByRole('textbox', { name: /^Message to/ }).fill('Tomorrow.')
    await press(theirs.getByRole('button', { name: 'Send' }))
    await chat.locator('.message', { hasText: 'Tomorrow.' }).waitFor()
    expect(await bob.flaws()).toEqual([])
    for (const one of [ada, bob]) expectQuiet(one)
  })

  test('an event is written down, is on the home screen, and is deleted', async () => {
    const user = await newcomer()
    const calendar = await user.start('calendar', 'Calendar')
    await press(calendar.getByRole('button', { name: 'New event', exact: true }))
    const dialog = calendar.getByRole('dialog')
    await dialog.getByLabel('Title').fill('Tea with Mary')
    await dialog.getByRole('switch', { name: 'All day' }).check()
    await press(dialog.getByRole('button', { name: 'Save and close' }))
    await expect.poll(() => rowsOf(user, 'svc_events')).toMatchObject([{ title: 'Tea with Mary', all_day: true }])
    await press(user.page.getByRole('button', { name: 'Minimise' }))
    await press(user.page.getByRole('list', { name: 'Today' }).getByRole('button', { name: /Tea with Mary/ }))
    await dialog.waitFor()
    expect(await user.flaws()).toEqual([])
    await press(dialog.getByRole('button', { name: 'Delete' }))
    // It is asked about once more.
    await press(dialog.last().getByRole('button', { name: 'Delete' }))
    await expect.poll(() => rowsOf(user, 'svc_events')).toEqual([])
    expectQuiet(user)
  })

  test('a note becomes a list that is ticked off', async () => {
    const user = await newcomer()
    const notes = await user.start('notes', 'Notes')
    await press(notes.getByRole('button', { name: 'New note' }).first())
    await notes.getByRole('textbox', { name: 'Title' }).fill('Shopping')
    const text = notes.getByRole('textbox', { name: 'Text of the note' })
    await text.fill('- [ ] Milk\n- [ ] Tea')
    await notes.getByText('Saved', { exact: true }).waitFor()
    await press(notes.getByRole('checkbox').first())
    await expect.poll(() => rowsOf(user, 'svc_notes')).toMatchObject([{ content: '- [x] Milk\n- [ ] Tea' }])
    expect(await user.flaws()).toEqual([])
    expectQuiet(user)
  })

  test('an administrator adds a user, who signs in', async () => {
    const user = await newcomer('admin')
    const admin = await user.start('admin', 'Administration')
    await press(admin.getByRole('button', { name: 'Add a user' }))
    const dialog = admin.getByRole('dialog')
    const username = `mary-${isPhone ? 'phone' : 'desk'}`
    await dialog.getByLabel('User name').fill(username)
    await dialog.getByLabel('Display name').fill('Mary')
    await press(dialog.getByRole('button', { name: 'Generate' }))
    const password = await dialog.getByLabel('New password').inputValue()
    await press(dialog.locator('footer').getByRole('button', { name: 'Add', exact: true }))
    await admin.getByRole('heading', { name: 'Mary' }).waitFor()
    expect(await user.flaws()).toEqual([])
    const mary = await world.visit(options)
    await mary.login(username, password)
    await mary.page.getByText(', Mary').waitFor()
    expectQuiet(user)
  })
})
