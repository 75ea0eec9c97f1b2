import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Frame } from 'playwright-core'
import { hasSharp, png } from '../support/pictures.ts'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>[x](javascript:alert(1))'

const PASTE_5_MB = `{
  const clipboardData = new DataTransfer()
  clipboardData.setData('text/plain', 'x'.repeat(5 * 1048576))
  document.querySelector('.composer textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
}`

const author = ({ id, username }: Person) =>
  ({ id, username, display_name: username, role: 'user', avatar_color: '#3b5bdb' }) as never

const chat = () => world.server.local.domain.chat

const roomOf = (owner: Person, name: string, ...others: Person[]) =>
  chat().createRoom(author(owner), { name, type: 'channel', participants: others.map(({ id }) => id) })

const say = (who: Person, room_id: number, content: string) => chat().send(author(who), { room_id, content })

const said = async (who: Person, room_id: number) =>
  (await chat().messages(who.id, { room_id, limit: 200 })).messages.map(({ content }) => content)

const enterChat = async (person: Person, options = {}): Promise<[DesktopPage, Frame]> => {
  const visited = await world.enter(person, options)
  return [visited, await visited.open('chat', 'Chat')]
}

const field = (frame: Frame) => frame.getByRole('textbox', { name: /^Message to/ })

test('two people talk: messages, typing, answers, reactions, changes and deletions arrive by themselves', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const room = await roomOf(ada, `Engines ${HOSTILE}`, bob)
  const [here, mine] = await enterChat(ada)
  const [there, theirs] = await enterChat(bob)
  await mine.getByRole('button', { name: /Engines/ }).click()
  await theirs.getByRole('button', { name: /Engines/ }).click()

  await field(mine).fill(`Hello @${bob.username}! ${HOSTILE} ![p](https://elsewhere.example/p.png)`)
  await theirs.getByText('Ada is typing').waitFor()
  await field(mine).press('Enter')
  await theirs.locator('.mention.own', { hasText: bob.username }).waitFor()
  await theirs.locator('.message', { hasText: '<script>document.title=1</script>' }).waitFor()
  expect(await theirs.locator('.message img, .message script, .message a[href^=javascript]').count()).toBe(0)
  expect(await said(ada, room.room_id)).toHaveLength(1)

  await theirs.locator('[data-id]').first().hover()
  await theirs.getByRole('button', { name: 'React' }).click()
  const hiddenEmoji = `[...document.querySelectorAll('.emoji-grid [role=menuitem]')].filter((item) => {
    const { left, top, width, height } = item.getBoundingClientRect()
    return document.elementFromPoint(left + width / 2, top + height / 2) !== item
  }).length`
  expect(await theirs.evaluate(hiddenEmoji)).toBe(0)
  await theirs.getByRole('menuitem', { name: '🎉' }).click()
  await mine.getByRole('button', { name: '🎉 1: Ada' }).waitFor()
  await theirs.getByRole('button', { name: 'Reply', exact: true }).click()
  await field(theirs).pressSequentially('Well')
  await field(theirs).press('Shift+Enter')
  await field(theirs).pressSequentially('yes')
  await field(theirs).press('Enter')
  await mine.locator('.answered').waitFor()
  expect((await said(ada, room.room_id)).at(-1)).toBe('Well\nyes')

  await field(theirs).press('ArrowUp')
  await field(theirs).fill('Certainly')
  await field(theirs).press('Enter')
  await mine.locator('.message', { hasText: 'Certainly' }).waitFor()
  await mine.getByText('edited').waitFor()
  expect(await here.flaws()).toEqual([])

  await theirs.locator('[data-id]').last().hover()
  await theirs.getByRole('button', { name: 'More', exact: true }).click()
  await theirs.getByRole('menuitem', { name: 'Delete' }).click()
  await theirs.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await mine.locator('.message', { hasText: 'Certainly' }).waitFor({ state: 'detached' })
  expect(await said(ada, room.room_id)).toHaveLength(1)
  expectQuiet(here)
  expectQuiet(there)
})

test('what is unread is counted, shown behind a line and read when it is looked at', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const room = await roomOf(ada, 'Plans', bob)
  await roomOf(ada, 'Other', bob)
  const [visited, frame] = await enterChat(ada)
  const line = frame.getByRole('button', { name: /Plans/ })
  await line.waitFor()
  await say(bob, room.room_id, 'one')
  await say(bob, room.room_id, `two @${ada.username}`)
  await line.getByText('2 unread messages, You are mentioned').waitFor()
  await line.click()
  await frame.locator('.day.new').waitFor()
  await line.locator('.count').waitFor({ state: 'detached' })
  await expect.poll(async () => (await chat().unread(ada.id)).total).toBe(0)
  expect(await visited.flaws()).toEqual([])
})

test('a direct message is begun with a person, and a room with several; hostile names stay text', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const [visited, frame] = await enterChat(ada)
  await frame.getByRole('button', { name: 'New direct message' }).click()
  expect(await visited.flaws()).toEqual([])
  await frame.getByRole('searchbox', { name: 'Find people' }).fill(bob.username)
  await frame.getByRole('dialog').getByRole('button', { name: bob.username }).click()
  await field(frame).fill('Hi')
  await field(frame).press('Enter')
  await expect.poll(async () => (await chat().rooms(bob.id)).map(({ type }) => type)).toEqual(['dm'])

  await frame.getByRole('button', { name: 'New conversation' }).click()
  await frame.getByRole('menuitem', { name: 'New room' }).click()
  await frame.getByRole('textbox', { name: 'Name of the room' }).fill(HOSTILE)
  await frame.getByRole('checkbox', { name: bob.username }).check()
  await frame.getByRole('button', { name: 'Create' }).click()
  await frame.getByRole('heading', { name: '<img src=x' }).waitFor()
  expect(await frame.locator('#root img').count()).toBe(0)
  expect(await chat().rooms(bob.id)).toHaveLength(2)
  expectQuiet(visited)
})

test('a message that cannot be sent waits, survives a reload, and arrives once', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const room = await roomOf(ada, 'Line', bob)
  const [visited, frame] = await enterChat(ada)
  await frame.getByRole('button', { name: /Line/ }).click()
  await field(frame).fill('draft')
  // The server takes it, and its answer is lost.
  await visited.page.route('**/api/team-chat.php?action=send', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await field(frame).fill('only once')
  await field(frame).press('Enter')
  await frame.getByText('Not sent yet').waitFor()
  await field(frame).fill('a draft')
  await visited.page.unroute('**/api/team-chat.php?action=send')
  // What waits is known before the messages of the room are.
  let release = () => {}
  const painted = new Promise<void>((resolve) => (release = resolve))
  await visited.page.route('**/api/team-chat.php?action=messages*', async (route) => {
    await painted
    await route.continue()
  })
  await visited.page.reload()
  const again = await visited.app('chat')
  await again.getByRole('button', { name: /Line/ }).click()
  await again.locator('.loading').waitFor()
  await again.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)))')
  release()
  await expect.poll(() => field(again).inputValue()).toBe('a draft')
  await again.locator('.pending').waitFor({ state: 'detached' })
  expect(await said(bob, room.room_id)).toEqual(['only once'])
  await again.getByRole('log').getByText('only once').waitFor()
  expect(visited.complaints.filter((text) => text.includes('null'))).toEqual([])
})

test('a message of 5 MB is not sent; as a file it is, for everybody in the room', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const room = await roomOf(ada, 'Large things', bob)
  const [visited, frame] = await enterChat(ada)
  await frame.getByRole('button', { name: /Large things/ }).click()
  await field(frame).fill('x'.repeat(16_385))
  await field(frame).press('Enter')
  await frame.getByText('of at most 16 KB').waitFor()
  await field(frame).fill('')
  await frame.evaluate(PASTE_5_MB)
  await frame.getByText('The message is too long: 5 MB of at most 16 KB.').waitFor()
  expect(await said(ada, room.room_id)).toEqual([])
  expect(await visited.flaws()).toEqual([])
  await frame.getByRole('button', { name: 'Send as a file' }).click()
  await expect.poll(() => field(frame).inputValue()).toBe('[message.txt](/Teamchat/Large%20things/message.txt) ')
  await field(frame).press('Enter')
  await frame.getByRole('link', { name: 'message.txt' }).waitFor()
  await frame.getByRole('button', { name: 'Files', exact: true }).click()
  await frame.getByRole('button', { name: 'Download message.txt' }).waitFor()
  expect(await visited.flaws()).toEqual([])
})

test('a long history is read page by page, and what is searched is shown where it was said', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const room = await roomOf(ada, 'Long', bob)
  await say(bob, room.room_id, 'the needle')
  for (let count = 0; count < 420; count++) await say(bob, room.room_id, `straw ${count}`)
  await say(bob, (await roomOf(ada, 'Other', bob)).room_id, 'another needle')
  const [visited, frame] = await enterChat(ada, { viewport: { width: 390, height: 844 } })
  // Above the list of rooms, all rooms are searched.
  await frame.getByRole('button', { name: 'Search messages' }).click()
  await frame.getByRole('searchbox', { name: 'Search messages' }).fill('needle')
  await frame.getByRole('button', { name: /the needle/ }).waitFor()
  await frame.getByRole('button', { name: /another needle/ }).waitFor()
  await frame.getByRole('complementary').getByRole('button', { name: 'Close' }).click()
  await frame.getByRole('button', { name: /Long/ }).click()
  await frame.getByText('straw 419', { exact: true }).waitFor()
  const place = frame.getByRole('log')
  expect(await visited.flaws()).toEqual([])
  await place.evaluate('document.querySelector(".history").scrollTop = 0')
  await frame.getByText('straw 360', { exact: true }).waitFor({ state: 'attached' })

  await frame.getByRole('button', { name: 'Search messages' }).last().click()
  await frame.getByRole('searchbox', { name: 'Search messages' }).fill('NEEDLE')
  await frame.getByRole('button', { name: /the needle/ }).click()
  await frame.locator('.message.marked', { hasText: 'the needle' }).waitFor()
  expect(await frame.locator('[data-id]').count()).toBeLessThanOrEqual(150)
  await frame.getByRole('button', { name: 'To the newest messages' }).click()
  await frame.getByText('straw 419', { exact: true }).waitFor()
  expectQuiet(visited)
})

test("characters that reorder a file's name on the screen are marked, in a message and among the files of its room", async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  const room = await roomOf(bob, 'Pictures', ada)
  const name = 'holiday\u202egpj.exe'
  const { desktop } = world.server.local.domain.files
  const staged = await desktop.receive(Readable.from([Buffer.from('x')]))
  await desktop.write(bob.id, `/Teamchat/Pictures/${name}`, { staged })
  const image = await desktop.receive(Readable.from([png(30, 20)]))
  await desktop.write(bob.id, '/Teamchat/Pictures/engine.png', { staged: image })
  await say(
    bob,
    room.room_id,
    `[${name}](/Teamchat/Pictures/${encodeURIComponent(name)}) [engine.png](/Teamchat/Pictures/engine.png) [gone.png](/Teamchat/Pictures/gone.png)`,
  )
  const [visited, frame] = await enterChat(ada)
  await frame.getByRole('button', { name: /Pictures/ }).click()
  await frame.getByRole('link', { name: 'holiday\ufffdgpj.exe' }).waitFor()
  if (hasSharp) await frame.getByRole('img', { name: 'engine.png' }).waitFor()
  await frame.locator('.message-pictures button', { hasText: 'gone.png' }).waitFor({ state: 'detached' })
  await frame.getByRole('button', { name: 'Files', exact: true }).click()
  await frame.getByRole('button', { name: 'Download holiday\ufffdgpj.exe' }).waitFor()
  expect(await frame.locator('#root').textContent()).not.toContain('\u202e')
  expectQuiet(visited)
})

test('what is written while a file is uploaded stays, and the link goes to the room it was chosen in', async () => {
  const ada = await world.person()
  await roomOf(ada, 'Engines')
  await roomOf(ada, 'Looms')
  const [{ page }, frame] = await enterChat(ada)
  await frame.getByRole('button', { name: /Engines/ }).click()
  let [onHeld, finish] = [() => {}, () => {}]
  await page.route('**/api/filesystem.php?action=upload*', async (route) => {
    await new Promise<void>((resolve) => {
      finish = resolve
      onHeld()
    })
    await route.continue()
  })
  /** Chooses a file; its upload waits for `finish`. */
  const attach = async (name: string) => {
    const isHeld = new Promise<void>((resolve) => (onHeld = resolve))
    await frame
      .locator('.composer input[type=file]')
      .setInputFiles([{ name, mimeType: 'text/plain', buffer: Buffer.from('one') }])
    await isHeld
  }

  await field(frame).fill('See ')
  await attach('plan.txt')
  await field(frame).press('End')
  await field(frame).pressSequentially('the plan: ')
  finish()
  await expect.poll(() => field(frame).inputValue()).toMatch(/^See the plan: \[plan.txt\]\(\S+\) $/)

  // What was sent meanwhile does not come back.
  await attach('loom.txt')
  await field(frame).press('Enter')
  await expect.poll(() => field(frame).inputValue()).toBe('')
  finish()
  await expect.poll(() => field(frame).inputValue()).toMatch(/^\[loom.txt\]\(\S+\) $/)

  await attach('last.txt')
  await frame.getByRole('button', { name: /Looms/ }).click()
  await field(frame).fill('Another room')
  const uploaded = page.waitForResponse(/action=upload/)
  finish()
  await uploaded
  await frame.getByRole('button', { name: /Engines/ }).click()
  await expect.poll(() => field(frame).inputValue()).toMatch(/^\[loom.txt\]\(\S+\) \[last.txt\]\(\S+\) $/)
  await frame.getByRole('button', { name: /Looms/ }).click()
  await expect.poll(() => field(frame).inputValue()).toBe('Another room')
})
