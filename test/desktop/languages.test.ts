import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

/** Everything a person reads or hears in a page: its texts, and the labels of what has none. */
const TEXTS = `(() => {
  const texts = new Set()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (!['SCRIPT', 'STYLE', 'CODE', 'PRE', 'KBD', 'NOSCRIPT'].includes(node.parentElement.tagName)) texts.add(node.data.trim())
    } else for (const name of ['aria-label', 'title', 'placeholder', 'alt']) texts.add((node.getAttribute(name) ?? '').trim())
  }
  return [...texts]
})()`

/** Words that are the same in both languages, and what is not of the desktop: names, numbers, addresses, units. */
const SHARED =
  /^(svc.*|(ada|user)-\d+|Administrator|Filter|Teamchat|(April|August|September|November) \d{4}|Ada|A|@ada-\d+|Administration|Desktop|Dock|Apps|Name|Code|Version|Online|Status|Widgets?|Hooks|Name|Finance|[A-Z]{3}|.*\d+ (KB|MB|GB|B).*|[^\p{L}]*)$/u

const textsOf = async (page: Pick<Frame, 'evaluate'>) => page.evaluate<string[]>(TEXTS)

/** Opens every app in one language and collects what is read there, by app. */
async function walk(person: Person, locale: string): Promise<Map<string, Set<string>>> {
  const visited = await world.enter(person, { locale })
  const { page } = visited
  const found = new Map<string, Set<string>>([['desktop', new Set(await textsOf(page.mainFrame()))]])
  // The pages of Help are written in English.
  const slugs = (await world.server.local.domain.desktop.apps.list({ id: person.id, role: 'admin' })).map(
    ({ slug }) => slug,
  )
  for (const slug of slugs.filter((name) => name !== 'help')) {
    const texts = new Set<string>()
    found.set(slug, texts)
    const frame = await open(visited, slug)
    const collect = async () => {
      await expect.poll(() => frame.locator('.loading').count()).toBe(0)
      for (const text of await textsOf(frame)) texts.add(text)
    }
    await collect()
    const pages = frame.locator('.side-list button')
    const count = ['admin', 'settings', 'files', 'tasks'].includes(slug) ? await pages.count() : 0
    for (let index = 0; index < count; index++) {
      await pages.nth(index).click()
      await collect()
    }
    await page.keyboard.press('Control+Alt+w')
    await page.locator(`iframe[data-app="${slug}"]`).waitFor({ state: 'detached' })
  }
  return found
}

async function open({ page, app }: DesktopPage, slug: string): Promise<Frame> {
  await page.evaluate(`location.hash = 'open=${slug}'`)
  const frame = await app(slug)
  await frame.locator('#root > *').first().waitFor()
  return frame
}

test('nothing that a person reads in any app is the same in German as in English', async () => {
  const person = await world.person('admin')
  const english = await walk(person, 'en-GB')
  const german = await walk(person, 'de-DE')
  const untranslated = [...german].flatMap(([slug, texts]) =>
    [...texts].filter((text) => english.get(slug)!.has(text) && !SHARED.test(text)).map((text) => `${slug}: ${text}`),
  )
  expect(untranslated).toEqual([])
}, 240_000)
