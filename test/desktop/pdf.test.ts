import { Readable } from 'node:stream'
import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld } from '../support/desktop.ts'
import { makePdf } from '../support/pdf.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

/** Files with one file that is open. */
async function withFile(bytes: Buffer, options = {}): Promise<DesktopPage & { frame: Frame }> {
  const person = await world.person()
  const { desktop } = world.server.local.domain.files
  await desktop.write(person.id, '/paper.pdf', { staged: await desktop.receive(Readable.from([bytes])) })
  const visited = await world.enter(person, options)
  const frame = await visited.open('files', 'Files')
  await frame.getByTitle('paper.pdf', { exact: true }).dblclick()
  return { ...visited, frame }
}

/** How many pixels of a page are not white. */
const inkOf = (frame: Frame, page: number): Promise<number> =>
  frame.evaluate(`(() => {
    const canvas = document.querySelectorAll('.pdf-page')[${page - 1}]?.querySelector('canvas')
    if (!canvas?.width) return 0
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    let ink = 0
    for (let at = 0; at < data.length; at += 4) if (data[at] + data[at + 1] + data[at + 2] < 600) ink++
    return ink
  })()`)

/** The pages of a paper of three, on the screen. */
async function withPaper(options = {}): Promise<DesktopPage & { frame: Frame }> {
  const visited = await withFile(makePdf(['On the Engine', 'Note G', 'Epilogue']), options)
  await visited.frame.getByText('On the Engine').waitFor()
  await visited.frame.getByText('3 pages').waitFor()
  return visited
}

const pageOf = (frame: Frame, page: number) => frame.getByRole('group', { name: `Page ${page} of 3` })

test('pages are drawn, and their words lie where they are drawn', async () => {
  const visited = await withPaper()
  const { frame } = visited
  await expect.poll(() => inkOf(frame, 1)).toBeGreaterThan(50)
  // 60 of 595 from the left, with their foot 142 of 842 from the top.
  const sheet = (await pageOf(frame, 1).boundingBox())!
  const line = (await frame.getByText('On the Engine').boundingBox())!
  expect(line.x - sheet.x).toBeCloseTo((60 / 595) * sheet.width, -1)
  expect(Math.abs(line.y + line.height - sheet.y - (142 / 842) * sheet.height)).toBeLessThan(line.height)
  await pageOf(frame, 3).scrollIntoViewIfNeeded()
  await frame.getByText('Epilogue').waitFor()
  await expect.poll(() => inkOf(frame, 3)).toBeGreaterThan(50)
  // The reader adds nothing below the window that could be scrolled to.
  const overflow = '[document.documentElement, document.body].map((e) => e.scrollHeight - innerHeight)'
  expect(Math.max(...(await frame.evaluate<number[]>(overflow)))).toBeLessThanOrEqual(0)
  expectQuiet(visited)
})

test('pages are enlarged, and drawn again at their new size', async () => {
  const visited = await withPaper()
  const { frame } = visited
  const { width } = (await pageOf(frame, 1).boundingBox())!
  await frame.getByRole('button', { name: 'Zoom in' }).click()
  await expect.poll(async () => (await pageOf(frame, 1).boundingBox())!.width).toBeCloseTo(width * 1.5, -1)
  await pageOf(frame, 3).scrollIntoViewIfNeeded()
  await frame.getByText('Epilogue').waitFor()
  await expect.poll(() => inkOf(frame, 3)).toBeGreaterThan(50)
  expectQuiet(visited)
})

test.each(['light', 'dark'] as const)('pages break no rule of accessibility, %s', async (colorScheme) => {
  const visited = await withPaper({ colorScheme })
  expect(await visited.flaws()).toEqual([])
  expectQuiet(visited)
})

test('a locked file asks for its password, and again after a wrong one', async () => {
  const visited = await withFile(makePdf(['Top secret'], { password: 'difference' }))
  const { frame, page } = visited
  await frame.getByText('This PDF is protected by a password').waitFor()
  expect(await visited.flaws()).toEqual([])
  await frame.getByLabel('Password').fill('analytical')
  await page.keyboard.press('Enter')
  await frame.getByText('The password is wrong.').waitFor()
  await frame.getByLabel('Password').fill('difference')
  await frame.getByRole('button', { name: 'Open', exact: true }).click()
  await frame.getByText('Top secret').waitFor()
  expectQuiet(visited)
})

test.each([
  ['nothing of a PDF', Buffer.from('%PDF-1.7\nbut not one\n')],
  ['no bytes', Buffer.alloc(0)],
  ['no pages', makePdf([])],
  ['the beginning alone', makePdf(['On the Engine']).subarray(0, 60)],
])('a file with %s can be saved instead', async (_name, bytes) => {
  const { frame } = await withFile(bytes)
  await frame.getByText('This PDF is damaged').waitFor()
  await frame.getByRole('main').or(frame.locator('article')).getByRole('button', { name: 'Download' }).first().waitFor()
})

test('a file cannot ask for anything, run anything, or make pages larger than a screen can show', async () => {
  const hostile = makePdf(['Come in'], { drawing: 'q 1e9 0 0 1e9 0 0 cm 0 0 1 1 re f Q' })
    .toString('latin1')
    .replace('/Type /Catalog', '/Type /Catalog /OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>')
    .replace('[0 0 595 842]', '[0 0 9e9 1e1]')
  const visited = await withFile(Buffer.from(hostile, 'latin1'))
  const { frame } = visited
  await frame.getByText('1 page', { exact: true }).or(frame.getByText('This PDF is damaged')).waitFor()
  const most = await frame.evaluate(
    `Math.max(0, ...[...document.querySelectorAll('canvas')].map(({ width, height }) => width * height))`,
  )
  expect(most).toBeLessThanOrEqual(12_000_000)
  expect(
    visited.page.frames().every((one) => !one.url().startsWith('http') || one.url().includes(world.server.url)),
  ).toBe(true)
})
