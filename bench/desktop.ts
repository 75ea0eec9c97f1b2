import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { startChromium } from '../test/support/chromium.ts'
import { ADA, makeAccount, withService } from './account.ts'
import type { Figure } from './figure.ts'
import { numbers } from './samples.ts'

/** What each figure may come to at most. */
const LIMIT = { script: 250, login: 1_000, desktop: 1_000, app: 200 } as const

const ROUNDS = 5

/** Milliseconds that a person looks before the next click. */
const HUMAN_PAUSE = 1_500

const against = (limit: number, ours: number[]) => ({ ours, peer: ours.map(() => limit) })

const built = join(process.cwd(), 'dist', 'desktop')

/** Scripts that the first page loads before it can be used, compressed. */
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

/** Opens the desktop in new profiles of a browser and measures each in milliseconds; the first round warms up. */
const inBrowser = (name: string, limit: number, measure: (page: Page, url: string) => Promise<number>): Figure => ({
  name,
  unit: 'ms',
  peer: 'the limit',
  wanted: { most: 1 },
  async measure(workspace) {
    const account = await makeAccount(workspace)
    return withService(workspace, account, async ({ url }) => {
      const browser = await startChromium()
      try {
        const ours: number[] = []
        for (const round of numbers(ROUNDS + 1)) {
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

/** From the address to a form that takes a name, with nothing in the browser's cache. */
export const desktopLogin: Figure = inBrowser('desktop-login', LIMIT.login, async (page, url) => {
  const start = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByLabel('User name').waitFor()
  return since(start)
})

async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByLabel('User name').fill(ADA.username)
  await page.getByRole('textbox', { name: 'Password' }).fill(ADA.password)
  await page.keyboard.press('Enter')
}

/** From the password to a desktop with its apps, the check of the password included. */
export const desktopShown: Figure = inBrowser('desktop-shown', LIMIT.desktop, async (page, url) => {
  await signIn(page, url)
  const start = performance.now()
  await page.getByRole('button', { name: 'Notes' }).waitFor()
  return since(start)
})

/** From the click on an app to what it shows. */
export const desktopApp: Figure = inBrowser('desktop-app', LIMIT.app, async (page, url) => {
  await signIn(page, url)
  const icon = page.getByRole('button', { name: 'Notes' })
  await icon.waitFor()
  // Once before, as on every day but the first: what it is made of is in the browser's cache.
  const shown = page.frameLocator('iframe[data-app="notes"]').getByText('No notes yet')
  await icon.click()
  await shown.waitFor()
  await page.getByRole('region', { name: 'Notes' }).getByRole('button', { name: 'Close' }).click()
  await page.waitForTimeout(HUMAN_PAUSE)
  const start = performance.now()
  await icon.click()
  await shown.waitFor()
  return since(start)
})
