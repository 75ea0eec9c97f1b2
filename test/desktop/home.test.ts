import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const HOSTILE = '<img src=x onerror="document.title=1">'
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const push = (user: number, ...operations: object[]) =>
  world.server.local.domain.sync.push(user, { operations } as never, undefined)

const insert = (table: string, data: object) => ({ table, operation: 'INSERT', data })

/** All day today, and repeated, so that no hour of the day is the wrong one for the test. */
const wholeDay = (title: string, day: string, more: object = {}) =>
  insert('svc_events', { title, starts_at: `${day}T00:00:00Z`, ends_at: null, all_day: true, ...more })

const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10)

test('the home screen of a phone has today and all apps, and the dock stays as it is', async () => {
  const [person, bob] = [await world.person(), await world.person()]
  const [today, lastWeek] = [dayOf(Date.now()), dayOf(Date.now() - 7 * 86_400_000)]
  await push(
    person.id,
    wholeDay('Birthday', today),
    wholeDay('Every week', lastWeek, { rrule: 'FREQ=WEEKLY', uid: 'weekly' }),
    insert('svc_tasks', { title: `Invoice ${HOSTILE}`, due_on: lastWeek }),
    insert('svc_tasks', { title: 'Done', due_on: today, done: true }),
  )
  const visited = await world.enter(person, phone)
  const { page } = visited
  const list = page.getByRole('list', { name: 'Today' })
  const lines = () => list.getByRole('listitem').allInnerTexts()
  await expect
    .poll(async () => (await lines()).map((line) => line.replaceAll(/\s+/g, ' ')))
    .toEqual([`Invoice ${HOSTILE} Overdue`, 'Birthday All day', 'Every week All day'])
  expect(await visited.flaws()).toEqual([])

  const dock = page.getByRole('navigation', { name: 'Dock' })
  const docked = () => dock.getByRole('button').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  const before = await docked()
  await page.getByRole('navigation', { name: 'Apps' }).getByRole('button', { name: 'Contacts' }).tap()
  const contacts = await visited.app('contacts')
  await contacts.getByText('No contacts yet').waitFor()
  expect(await list.isVisible()).toBe(false)
  expect(await docked()).toEqual(before)
  await page.goBack()

  // What happens elsewhere appears by itself, and goes when it is done.
  await list.waitFor()
  const author = {
    id: bob.id,
    username: bob.username,
    display_name: 'Bob',
    role: 'user',
    avatar_color: '#3b5bdb',
  } as never
  const { chat } = world.server.local.domain
  const { room_id } = await chat.createRoom(author, { name: 'Bob', type: 'dm', participants: [person.id] })
  await chat.send(author, { room_id, content: 'Hello' })
  await list.getByRole('button', { name: '1 unread message' }).waitFor()
  await push(person.id, insert('svc_tasks', { title: 'Buy tea', due_on: today }))
  await list.getByRole('button', { name: 'Buy tea' }).tap()
  const tasks = await visited.app('tasks')
  await expect.poll(() => tasks.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Buy tea')
  expectQuiet(visited)
})

test('more than fits is counted, and what is shown opens', async () => {
  const person = await world.person()
  const today = dayOf(Date.now())
  await push(person.id, ...Array.from({ length: 9 }, (_, index) => wholeDay(`Event ${index + 1}`, today)))
  const visited = await world.enter(person)
  const list = visited.page.getByRole('list', { name: 'Today' })
  await list.getByRole('button', { name: '3 more' }).waitFor()
  expect(await list.getByRole('listitem').count()).toBe(7)
  expect(await visited.flaws()).toEqual([])
  await list.getByRole('button', { name: 'Event 1' }).click()
  await (await visited.app('calendar')).getByRole('dialog').waitFor()
  expect(await list.isVisible()).toBe(false)
})
