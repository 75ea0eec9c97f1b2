import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld, type Person } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

type Row = Record<string, unknown> & { id: number }

function tasksOf({ id }: Person) {
  const { sync } = world.server.local.domain
  return {
    rows: async () =>
      ((await rowsAndCursorOf(sync, id, ['svc_tasks'])).data['svc_tasks'] as unknown as Row[]).toSorted(
        (a, b) => a.id - b.id,
      ),
    insert: (...tasks: Record<string, unknown>[]) =>
      sync.push(
        id,
        { operations: tasks.map((data) => ({ table: 'svc_tasks', operation: 'INSERT', data })) },
        undefined,
      ),
  }
}

/** The tasks app at noon of Thursday, 26 November 2026, in Berlin. */
async function withTasks(tasks: Record<string, unknown>[] = [], options = {}) {
  const person = await world.person()
  const { rows, insert } = tasksOf(person)
  if (tasks.length > 0) await insert(...tasks)
  const visited = await world.enter(person, { timezoneId: 'Europe/Berlin', ...options })
  await visited.page.clock.setFixedTime(new Date('2026-11-26T11:00:00Z'))
  const app = await visited.open('tasks', 'Tasks')
  return { visited, app, rows, insert }
}

test('a task has an hour in its time zone, and is overdue when it has passed', async () => {
  const { visited, app, rows } = await withTasks([
    { title: 'Call', due_on: '2026-11-26', due_time: '20:30', tzid: 'Asia/Tokyo' },
    { title: 'Tea', due_on: '2026-11-26', due_time: '11:59', tzid: 'Europe/Berlin' },
    { title: 'Odd', due_on: '2026-11-26', due_time: '23:00', tzid: 'Mars/Base' },
  ])
  const today = app.locator('.group-today')
  // The order of the hours is that of the clocks; nothing of a zone that is unknown breaks the list.
  await today.locator('.task', { hasText: 'Call' }).getByText('Today, 12:30').waitFor()
  await today.locator('.task', { hasText: 'Tea' }).getByText('Overdue:').waitFor({ state: 'attached' })
  expect(await today.locator('.is-overdue').count()).toBe(1)
  await app.getByText('(unknown time zone Mars/Base)').waitFor()
  await app.getByRole('button', { name: 'Odd', exact: true }).click()
  await app.getByText('The time zone Mars/Base is unknown, so the time is taken for UTC.').waitFor()
  await visited.page.keyboard.press('Escape')

  await app.getByLabel('Add a task').fill('Bread')
  await visited.page.keyboard.press('Enter')
  await app.getByRole('button', { name: 'Bread', exact: true }).click()
  const dialog = app.getByRole('dialog')
  await dialog.getByLabel('Time', { exact: true }).fill('18:05')
  await dialog.getByLabel('Repeats').selectOption('Weekly')
  await dialog.getByText('Saved', { exact: true }).waitFor()
  expect(await visited.flaws()).toEqual([])
  expect((await rows()).at(-1)).toMatchObject({
    due_on: '2026-11-26',
    due_time: '18:05',
    tzid: 'Europe/Berlin',
    rrule: 'FREQ=WEEKLY',
  })
  expectQuiet(visited)
})

test('a task that repeats becomes due again when it is done; undo takes that back', async () => {
  const { visited, app, rows } = await withTasks([
    { title: 'Water', due_on: '2026-11-23', rrule: 'FREQ=DAILY;COUNT=9', uid: 'water' },
    { title: 'Balcony', parent_uid: 'water', done: true, done_at: '2026-11-22T10:00:00Z' },
    { title: 'Last one', due_on: '2026-11-26', rrule: 'FREQ=DAILY;COUNT=1' },
    { title: 'Damaged', due_on: '2026-11-26', rrule: 'FREQ=NEVER' },
  ])
  await app.getByRole('checkbox', { name: 'Done: Water' }).click()
  await app.getByText('Done. “Water” is due again on Thursday 26 November.').waitFor()
  await expect
    .poll(rows)
    .toMatchObject([
      { title: 'Water', due_on: '2026-11-26', rrule: 'FREQ=DAILY;COUNT=6', done: false, uid: 'water' },
      { title: 'Balcony', done: false, done_at: null },
      {},
      {},
      { title: 'Water', due_on: '2026-11-23', rrule: null, uid: null, done: true },
    ])
  await app.getByRole('button', { name: 'Undo' }).click()
  await expect
    .poll(rows)
    .toMatchObject([
      { title: 'Water', due_on: '2026-11-23', rrule: 'FREQ=DAILY;COUNT=9', done: false },
      { title: 'Balcony', done: true, done_at: '2026-11-22T10:00:00Z' },
      {},
      {},
    ])

  await app.getByRole('checkbox', { name: 'Done: Last one' }).click()
  await app.getByRole('checkbox', { name: 'Done: Damaged' }).click()
  await app.getByText('The repetition cannot be calculated').waitFor()
  await expect
    .poll(async () => (await rows()).filter(({ done }) => done).map(({ title }) => title))
    .toEqual(['Balcony', 'Last one', 'Damaged'])
  expectQuiet(visited)
})

test('tasks become sub-tasks by keys and by menu, which screen readers are told', async () => {
  const { visited, app, rows } = await withTasks([{ title: 'Alpha' }, { title: 'Beta' }, { title: 'Gamma' }])
  const open = (title: string) => app.getByRole('button', { name: new RegExp(`^${title}`) })
  const level = (title: string) => app.locator('.task', { hasText: title }).last().getAttribute('aria-level')
  const status = app.locator('p[role=status]')

  await open('Beta').focus()
  await visited.page.keyboard.press('Alt+ArrowRight')
  await expect.poll(() => status.textContent()).toBe('“Beta” is now part of “Alpha”.')
  await expect.poll(() => app.evaluate('document.activeElement.textContent')).toContain('Beta')
  expect(await level('Beta')).toBe('2')
  await expect.poll(async () => (await rows())[1]!['parent_uid']).toBeTruthy()
  expect((await rows())[1]!['parent_uid']).toBe((await rows())[0]!['uid'])
  await visited.page.keyboard.press('Alt+ArrowRight')
  await expect.poll(() => status.textContent()).toBe('There is no task above that it could be part of.')

  await app.getByRole('button', { name: 'Actions for “Gamma”' }).click()
  expect(await visited.flaws()).toEqual([])
  await app.getByRole('menuitem', { name: 'Make sub-task of “Alpha”' }).click()
  await expect.poll(() => status.textContent()).toBe('“Gamma” is now part of “Alpha”.')
  await open('Gamma').focus()
  await visited.page.keyboard.press('Alt+ArrowRight')
  await expect.poll(() => level('Gamma')).toBe('3')
  await visited.page.keyboard.press('Alt+ArrowLeft')
  await visited.page.keyboard.press('Alt+ArrowLeft')
  await expect.poll(() => status.textContent()).toBe('“Gamma” is no longer a sub-task.')
  await expect.poll(async () => (await rows())[2]!['parent_uid']).toBeNull()

  await app.getByRole('button', { name: 'Actions for “Beta”' }).click()
  await app.getByRole('menuitem', { name: 'Add sub-task' }).click()
  const dialog = app.getByRole('dialog', { name: 'Sub-task' })
  await dialog.getByText('Part of “Beta”').waitFor()
  await dialog.getByLabel('Title').fill('Delta')
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await expect.poll(() => level('Delta')).toBe('3')
  await expect.poll(async () => (await rows()).length).toBe(4)
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('nothing is lost with a parent: not by its deletion, nor by a cycle or a parent that never was', async () => {
  const { visited, app, rows } = await withTasks([
    { title: 'Parent', uid: 'p' },
    { title: 'Part', parent_uid: 'p' },
    { title: 'Snake', uid: 's', parent_uid: 't' },
    { title: 'Tail', uid: 't', parent_uid: 's' },
    { title: 'Orphan', parent_uid: 'never' },
    { title: 'Finished', uid: 'f', done: true },
    { title: 'Open part', parent_uid: 'f' },
  ])
  const titles = () => app.locator('.task .task-title').allTextContents()
  await app.getByText('Orphan').waitFor()
  expect((await titles()).toSorted()).toEqual(
    ['Finished', 'Open part', 'Orphan', 'Parent', 'Part', 'Snake', 'Tail'].toSorted(),
  )
  await app.getByRole('button', { name: 'Actions for “Parent”' }).click()
  await app.getByRole('menuitem', { name: 'Delete' }).click()
  await app.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(async () => (await rows()).some(({ title }) => title === 'Parent')).toBe(false)
  expect(await titles()).toContain('Part')
  await app.getByRole('button', { name: 'Undo' }).click()
  await app.locator('.task', { hasText: 'Parent' }).first().waitFor()
  await expect
    .poll(() => app.locator('.task[aria-level="2"]').allTextContents())
    .toContainEqual(expect.stringContaining('Part of “Parent”'))
  expectQuiet(visited)
})

test('lists are counted alike, a task is not part of itself, and a date in another year has its year', async () => {
  const { visited, app } = await withTasks([
    { title: 'Self', uid: 'self', parent_uid: 'self', due_on: '2026-11-20' },
    { title: 'Later', parent_uid: 'self' },
    { title: 'Leap', due_on: '2024-02-29', rrule: 'FREQ=YEARLY;INTERVAL=4' },
  ])
  await app.getByRole('button', { name: 'Overdue 2' }).waitFor()
  await app.getByRole('heading', { name: 'Overdue 2' }).waitFor()
  await app.getByRole('button', { name: 'Self', exact: true }).click()
  const dialog = app.getByRole('dialog')
  expect(await dialog.getByText('Part of').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await app.getByText('“Self” is deleted on this and all other devices.').waitFor()
  await app.getByRole('button', { name: 'Cancel' }).click()
  await dialog.getByRole('button', { name: 'Save and close' }).click()
  await app.getByLabel('Done: Leap').click()
  await app.getByText(/“Leap” is due again on Tuesday\b.* 2028/).waitFor()
  expectQuiet(visited)
})
