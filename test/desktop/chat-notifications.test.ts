import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopWorld, type Person } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const author = ({ id, username }: Person) =>
  ({ id, username, display_name: 'Bob', role: 'user', avatar_color: '#3b5bdb' }) as never

const chat = () => world.server.local.domain.chat

const roomOf = (owner: Person, type: 'channel' | 'dm', ...others: Person[]) =>
  chat().createRoom(author(owner), { name: 'Plans', type, participants: others.map(({ id }) => id) })

const say = (who: Person, room_id: number, content: string) => chat().send(author(who), { room_id, content })

test('mentions and direct messages are announced while Chat has no window, and reading them ends it', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const room = await roomOf(bob, 'channel', ada)
  const direct = await roomOf(bob, 'dm', ada)
  const visited = await world.enter(ada)
  const { page } = visited
  await say(bob, room.room_id, 'nothing for her')
  await say(bob, room.room_id, `@${ada.username} come <b>here</b>`)
  await page.locator('.toast', { hasText: 'Ada · Plans' }).getByText('come <b>here</b>').waitFor()
  await page.getByRole('button', { name: 'Team chat, 1 unread' }).waitFor()
  await say(bob, direct.room_id, 'Are you there?')
  await page.getByRole('button', { name: 'Team chat, 2 unread' }).waitFor()
  await expect.poll(() => page.title()).toBe('(2) svc')
  expect(await visited.flaws()).toEqual([])

  await page.getByRole('button', { name: 'Notifications (2)' }).click()
  await page.getByRole('dialog').getByText('Are you there?').click()
  const frame = await visited.app('chat')
  await frame.locator('.message', { hasText: 'Are you there?' }).waitFor()
  await page.getByRole('button', { name: 'Team chat, open, 1 unread' }).waitFor()
  await frame.getByRole('button', { name: /Plans/ }).click()
  await expect.poll(() => page.title()).toBe('svc')

  // What is being looked at is not announced.
  await frame.getByRole('textbox', { name: /^Message to/ }).focus()
  await say(bob, room.room_id, `@${ada.username} thank you`)
  await frame.locator('.message', { hasText: 'thank you' }).waitFor()
  await expect.poll(async () => (await chat().unread(ada.id)).total).toBe(0)
  expect(await page.locator('.toast', { hasText: 'thank you' }).count()).toBe(0)
  expect(await page.title()).toBe('svc')
  expectQuiet(visited)
})

test('what was said to somebody before they signed in is announced when they have', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const room = await roomOf(bob, 'channel', ada)
  await say(bob, room.room_id, `@${ada.username} later`)
  await say(bob, room.room_id, 'and so on')
  await say(bob, (await roomOf(bob, 'dm', ada)).room_id, 'Hello')
  const { page } = await world.enter(ada)
  await page.getByRole('button', { name: 'Team chat, 2 unread' }).waitFor()
  await page.getByRole('button', { name: 'Notifications (2)' }).waitFor()
  await expect.poll(() => page.title()).toBe('(2) svc')
})

test('a hidden tab hears of a message at once', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const direct = await roomOf(bob, 'dm', ada)
  const { page } = await world.enter(ada)
  await page.evaluate(`{
    Object.defineProperty(document, 'hidden', { get: () => true })
    document.dispatchEvent(new Event('visibilitychange'))
  }`)
  await say(bob, direct.room_id, 'First')
  await expect.poll(() => page.title()).toBe('(1) svc')
  await say(bob, direct.room_id, 'Second')
  await expect.poll(() => page.title()).toBe('(2) svc')
})

test('a hidden tab that hears nothing asks once a minute', async () => {
  const { page } = await world.enter(await world.person())
  let requests = 0
  await page.route(
    ({ searchParams }) => searchParams.get('action') === 'delta',
    async (route) => {
      requests += 1
      const url = new URL(route.request().url())
      // Answers at once that nothing has changed.
      url.searchParams.set('wait', '0')
      // The page may be gone before the answer.
      await route.fulfill({ response: await route.fetch({ url: url.href }) }).catch(() => undefined)
    },
  )
  await page.clock.install()
  await page.addInitScript("Object.defineProperty(document, 'hidden', { get: () => true })")
  await page.reload()
  await expect.poll(() => requests).toBe(1)
  await page.clock.fastForward(30_000)
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
  expect(requests).toBe(1)
  await page.clock.fastForward(31_000)
  await expect.poll(() => requests).toBe(2)
})
