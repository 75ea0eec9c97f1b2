import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Frame } from 'playwright-core'
import { startWorld, type DesktopPage, type DesktopWorld } from '../support/desktop.ts'

// What the desktop does when one of the package's own apps is no longer its own: a text that got into it speaks over its port.

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

/** Keeps the port of every app, and what comes over it, where a test gets at them. */
const TAP = `{
  const post = MessagePort.prototype.postMessage
  MessagePort.prototype.postMessage = function (...message) {
    if (!globalThis.port) {
      globalThis.port = this
      globalThis.heard = []
      this.addEventListener('message', ({ data }) => heard.push(data))
    }
    return post.apply(this, message)
  }
}`

async function taken(slug = 'notes', name = 'Notes'): Promise<[DesktopPage, Frame]> {
  const visited = await world.enter(await world.person())
  await visited.context.addInitScript(TAP)
  await visited.page.reload()
  await visited.page.getByRole('navigation', { name: 'Dock' }).waitFor()
  const frame = await visited.open(slug, name)
  await frame.waitForFunction('globalThis.port !== undefined')
  return [visited, frame]
}

/** What was refused, in order. */
const failures = (frame: Frame) =>
  frame.evaluate<{ id: number; code: string }[]>(
    `heard.filter(({ type }) => type === 'failed').map(({ id, error }) => ({ id, code: error.code }))`,
  )

test('an app gets nothing that its grant does not name, streams included, and changes nothing of the desktop', async () => {
  const [{ page }, frame] = await taken()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await frame.evaluate(`{
    const calls = ['assistant.ask', 'assistant.confirm', 'filesystem.list', 'constructor', 'rows.list', undefined]
    calls.forEach((action, index) => port.postMessage({
      type: 'call', id: -1 - index, action, params: { message: 'Hello', stream: true, tables: 'svc_tasks', path: '/' }
    }))
    port.postMessage({ type: 'set-preferences', preferences: { theme: 'dark', wallpaper: 'sea' } })
    port.postMessage({ type: 'sign-out' })
    port.postMessage({ type: 'call', id: -10, action: 'assistant.ask', params: 'x' })
  }`)
  await expect.poll(() => failures(frame)).toHaveLength(7)
  expect((await failures(frame)).every(({ code }) => code === 'forbidden')).toBe(true)
  expect(asked.filter((url) => url.includes('/api/') && !url.includes('action=delta'))).toEqual([])
  expect(await page.locator('html').getAttribute('data-theme')).toBe('light')
  expect(await page.locator('html').getAttribute('data-wallpaper')).toBe('dawn')
})

test('an app reaches no row of a table that its grant does not name, whatever its parameters say beside the operations', async () => {
  const [{ page }, frame] = await taken()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await frame.evaluate(`{
    const insert = { operation: 'INSERT', op_id: crypto.randomUUID(), table: 'svc_contacts', data: { name: 'Eve' } }
    const note = { ...insert, table: 'svc_notes', data: { title: 'Fine' } }
    const calls = [
      ['rows.push', { tables: 'svc_notes', operations: [insert] }],
      ['rows.push', { operations: [note, insert] }],
      ['rows.push', { operations: [{ ...note, table: ['svc_notes'] }] }],
      ['rows.push', { tables: 'svc_notes' }],
      ['rows.list', { operations: [note] }],
      ['rows.list', { tables: ['svc_notes'] }],
    ]
    calls.forEach(([action, params], index) => port.postMessage({ type: 'call', id: -1 - index, action, params }))
  }`)
  await expect.poll(() => failures(frame)).toHaveLength(6)
  expect((await failures(frame)).every(({ code }) => code === 'forbidden')).toBe(true)
  expect(asked.filter((url) => /action=(push|list)/.test(url))).toEqual([])
})

test('an app calls, uploads to and downloads from the action that was checked, whichever its parameters name', async () => {
  const [{ page }, frame] = await taken('files', 'Files')
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await frame.evaluate(`{
    const params = { path: '/', action: 'erase' }
    port.postMessage({ type: 'call', id: -1, action: 'filesystem.list', params })
    port.postMessage({ type: 'call', id: -2, action: 'filesystem.thumbnail', params })
    port.postMessage({ type: 'call', id: -3, action: 'filesystem.upload', params, body: new Blob(['x']), name: 'x.txt' })
  }`)
  await expect.poll(() => frame.evaluate('heard.some(({ type, id }) => type === "answer" && id === -3)')).toBe(true)
  const download = page.waitForEvent('download')
  await frame.evaluate(`port.postMessage({
    type: 'download', action: 'filesystem.download', params: { path: '/x.txt', action: 'erase' }
  })`)
  asked.push((await download).url())
  const actions = asked.map((url) => new URL(url).searchParams.get('action'))
  expect(actions).toEqual(expect.arrayContaining(['list', 'thumbnail', 'upload', 'download']))
  expect(asked.filter((url) => url.includes('erase'))).toEqual([])
})

test('an app has a bounded number of calls at once, and its window goes on', async () => {
  const [{ page }, frame] = await taken()
  await page.route('**/api/rows.php?action=list*', () => undefined)
  await frame.evaluate(`for (let id = 1; id <= 120; id++)
    port.postMessage({ type: 'call', id: -id, action: 'rows.list', params: { tables: 'svc_notes' } })`)
  await expect.poll(() => failures(frame)).toHaveLength(20)
  expect((await failures(frame)).every(({ code, id }) => code === 'busy' && id <= -101)).toBe(true)
  await frame.getByRole('button', { name: 'New note' }).first().click()
  await frame.getByRole('textbox', { name: 'Title' }).waitFor()
})

test('an app that floods its port is stopped and named, and the desktop goes on', async () => {
  const [{ page }, frame] = await taken()
  await frame.evaluate(`for (let n = 0; n < 20_000; n++) port.postMessage({ type: 'set-item', key: 'k', value: 'v' })`)
  await page.getByText('Notes sent too many messages and was stopped.').waitFor()
  await page.getByRole('button', { name: 'Reload' }).click()
  const again = await notesOf(page)
  await again.getByText('No notes yet').waitFor()
})

/** The frame of Notes as it is now. */
const notesOf = async (page: DesktopPage['page']): Promise<Frame> =>
  (await (await page.locator('iframe[data-app="notes"]').last().elementHandle())!.contentFrame())!
