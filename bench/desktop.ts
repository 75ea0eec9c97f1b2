import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { startChromium } from '../test/support/chromium.ts'
import type { SqliteHandle } from '../src/host/sqlite-engine.ts'
import { ADA, makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { numbers } from './samples.ts'
import { filesOf, seedFiles } from './seeds.ts'

/** Upper limits of the figures. */
const LIMIT = { script: 250, login: 1_000, desktop: 1_000, app: 200, frame: 34, shift: 0.001, growth: 1.1 } as const

/** Items of the scrolled folder. */
const ENTRIES = 10_000

/** Polls in five hours: every 25 s for a room, every 50 s for the feed. */
const POLLS = 1_080
const WARM_POLLS = 200

const ROUNDS = 5

/** Pause of a person before the next click, ms. */
const HUMAN_PAUSE = 1_500

const against = (limit: number, ours: number[]) => ({ ours, peer: ours.map(() => limit) })

const built = join(process.cwd(), 'dist', 'desktop')

/** Compressed size of the scripts that the first page needs. */
export const desktopScript: Figure = {
  name: 'desktop-script',
  unit: 'KiB',
  peer: 'the limit',
  wanted: { most: 1 },
  measure() {
    const page = readFileSync(join(built, 'index.html'), 'utf8')
    const scripts = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, path]) => path!)
    const bytes = scripts.reduce((sum, path) => sum + gzipSync(readFileSync(join(built, path))).length, 0)
    return Promise.resolve(against(LIMIT.script, [bytes / 1_024]))
  },
}

interface InBrowser {
  name: string
  unit: string
  limit: number
  rounds?: number
  seed?: (database: SqliteHandle, user: number) => void
}

/** Opens the desktop in new browser profiles and measures in each; the first round warms up. */
const inBrowser = (
  { name, unit, limit, rounds = ROUNDS, seed }: InBrowser,
  measure: (page: Page, url: string) => Promise<number>,
): Figure => ({
  name,
  unit,
  peer: 'the limit',
  wanted: { most: 1 },
  async measure(workspace) {
    const account = await makeAccount(workspace, seed)
    return withService(workspace, account, async ({ url }) => {
      const browser = await startChromium()
      try {
        const ours: number[] = []
        for (const round of numbers(rounds + 1)) {
          const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1_440, height: 900 } })
          const took = await measure(await context.newPage(), url)
          if (round > 0) ours.push(took)
          await context.close()
        }
        return against(limit, ours)
      } finally {
        await browser.close()
      }
    })
  },
})

const since = (start: number): number => performance.now() - start

/** From navigation to the sign-in form, with an empty cache. */
export const desktopLogin: Figure = inBrowser(
  { name: 'desktop-login', unit: 'ms', limit: LIMIT.login },
  async (page, url) => {
    const start = performance.now()
    await page.goto(url, { waitUntil: 'commit' })
    await page.getByLabel('User name').waitFor()
    return since(start)
  },
)

async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByLabel('User name').fill(ADA.username)
  await page.getByRole('textbox', { name: 'Password' }).fill(ADA.password)
  await page.keyboard.press('Enter')
}

/** From the password to a desktop with its apps, including verification of the password. */
export const desktopShown: Figure = inBrowser(
  { name: 'desktop-shown', unit: 'ms', limit: LIMIT.desktop },
  async (page, url) => {
    await signIn(page, url)
    const start = performance.now()
    await page.getByRole('button', { name: 'Notes' }).waitFor()
    return since(start)
  },
)

/** From the click on an app to its content. */
export const desktopApp: Figure = inBrowser(
  { name: 'desktop-app', unit: 'ms', limit: LIMIT.app },
  async (page, url) => {
    await signIn(page, url)
    const icon = page.getByRole('button', { name: 'Notes' })
    await icon.waitFor()
    // Open it once before: usually its code is cached.
    const shown = page.frameLocator('iframe[data-app="notes"]').getByText('No notes yet')
    await icon.click()
    await shown.waitFor()
    await page.getByRole('region', { name: 'Notes' }).getByRole('button', { name: 'Close' }).click()
    await page.waitForTimeout(HUMAN_PAUSE)
    const start = performance.now()
    await icon.click()
    await shown.waitFor()
    return since(start)
  },
)

/** Scrolls the folder for two seconds; returns the times between frames, ms. */
const SCROLL = `new Promise((resolve) => {
  const items = document.querySelector('.items')
  const taken = []
  const start = performance.now()
  let last = start
  const step = (now) => {
    taken.push(now - last)
    last = now
    items.scrollTop += 150
    if (now - start < 2_000) requestAnimationFrame(step)
    else resolve(taken.slice(1))
  }
  requestAnimationFrame(step)
})`

/** Scrolling a folder of 10,000 files for two seconds, about 18,000 pixels each: 95th percentile of the frame time. */
export const desktopScroll: Figure = inBrowser(
  {
    name: 'desktop-scroll',
    unit: 'ms/frame',
    limit: LIMIT.frame,
    seed: (database, user) =>
      seedFiles(
        database,
        user,
        filesOf(ENTRIES).map((file) => ({ ...file, folder: 'Everything' })),
      ),
  },
  async (page, url) => {
    await signIn(page, url)
    await page.getByRole('button', { name: 'Files' }).click()
    const files = page.frameLocator('iframe[data-app="files"]')
    await files.getByTitle('Everything').dblclick()
    await files.getByText(`${ENTRIES.toLocaleString('en')} items`).waitFor()
    await page.waitForTimeout(HUMAN_PAUSE)
    const element = await page.locator('iframe[data-app="files"]').elementHandle()
    const times = await (await element!.contentFrame())!.evaluate<number[]>(SCROLL)
    const drawn = await files.getByRole('option').count()
    if (drawn === 0 || drawn > 100) throw new Error(`${drawn} entries are drawn.`)
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!
  },
)

/** Sums up the layout shifts of the page and every frame (Layout Instability API). */
const WATCH_SHIFTS = `{
  globalThis.shifted = 0
  new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (shifted += value)))
    .observe({ type: 'layout-shift', buffered: true })
}`

/** Cumulative layout shift from navigation through sign-in to two open apps. */
export const desktopShift: Figure = inBrowser(
  { name: 'desktop-shift', unit: 'of a screen', limit: LIMIT.shift },
  async (page, url) => {
    await page.addInitScript(WATCH_SHIFTS)
    await signIn(page, url)
    for (const [slug, name, sign] of [
      ['notes', 'Notes', 'No notes yet'],
      ['files', 'Files', 'This folder is empty'],
    ] as const) {
      await page.getByRole('button', { name }).click()
      const app = page.frameLocator(`iframe[data-app="${slug}"]`)
      await app.getByText(sign).or(app.getByRole('option')).first().waitFor()
      await page.waitForTimeout(HUMAN_PAUSE)
    }
    const shifts = await Promise.all(page.frames().map((frame) => frame.evaluate<number>('shifted')))
    return shifts.reduce((sum, shift) => sum + shift, 0)
  },
)

/** Memory after five hours with an idle room, without waiting, as a multiple of the memory before. */
export const desktopMemory: Figure = inBrowser(
  {
    name: 'desktop-memory',
    unit: 'of before',
    limit: LIMIT.growth,
    rounds: 2,
    seed: (database, user) =>
      database.exec(
        `insert into rooms (name, type, created_by, created_at, updated_at) values ('Engines', 'channel', ${user}, 0, 0);
         insert into room_members (room_id, user_id, joined_at) values (1, ${user}, 0)`,
      ),
  },
  async (page, url) => {
    let isFast = false
    let asked = 0
    await page.route(/action=(poll|delta)&/, async (route) => {
      asked++
      const address = route.request().url()
      await route.continue({ url: isFast ? address.replace(/wait=\d+/, 'wait=0') : address }).catch(() => undefined)
    })
    const session = await page.context().newCDPSession(page)
    const memoryAfter = async (polls: number): Promise<number> => {
      const enough = asked + polls
      isFast = true
      while (asked < enough) await page.waitForTimeout(100)
      isFast = false
      await page.waitForTimeout(HUMAN_PAUSE)
      await session.send('HeapProfiler.collectGarbage')
      return (await session.send('Runtime.getHeapUsage')).usedSize
    }
    await signIn(page, url)
    isFast = true
    await page.getByRole('button', { name: 'Chat' }).click()
    const chat = page.frameLocator('iframe[data-app="chat"]')
    await chat.getByText('Engines').first().click()
    await chat.getByRole('textbox').last().waitFor()
    const before = await memoryAfter(WARM_POLLS)
    return (await memoryAfter(POLLS)) / before
  },
)
