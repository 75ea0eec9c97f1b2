import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { openLocal } from '../src/wiring/local.ts'
import { startChromium } from '../test/support/chromium.ts'
import { ADA, makeAccount, withService } from './account.ts'
import { openWorkspace } from './workspace.ts'

// Makes the pictures of the README: `npm run screenshots`.

const FOLDER = 'src/desktop/pictures'

const notes = [
  {
    title: 'Trip to Turin',
    content:
      '# Trip to Turin\n\n- train at **9:40**, platform 7\n- talk on the engine at noon\n- dinner with Plana and Menabrea\n\n> Bring the punched cards.',
    color: 'blue',
    pinned: true,
  },
  { title: 'Shopping', content: 'milk, bread, two apples', category: 'Home' },
  { title: 'Ideas', content: 'A loom that weaves numbers.', color: 'violet', category: 'Work' },
  { title: 'Note G', content: 'Bernoulli numbers, worked out step by step.', color: 'green', category: 'Work' },
]

const open = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Dock' }).getByRole('button', { name }).click()
  await page.locator('iframe:not(.waiting)').last().waitFor()
}

const pictures: { name: string; options: BrowserContextOptions; arrange: (page: Page) => Promise<void> }[] = [
  {
    name: 'desktop-light',
    options: { viewport: { width: 1_280, height: 800 } },
    async arrange(page) {
      await open(page, 'Notes')
      await page.frameLocator('iframe[data-app="notes"]').getByRole('option', { name: /Turin/ }).click()
    },
  },
  {
    name: 'desktop-dark',
    options: { viewport: { width: 1_280, height: 800 }, colorScheme: 'dark' },
    async arrange(page) {
      await open(page, 'Settings')
      await page.frameLocator('iframe[data-app="settings"]').getByRole('button', { name: 'Appearance' }).click()
    },
  },
  {
    name: 'phone',
    options: { viewport: { width: 390, height: 780 } },
    arrange: (page) => open(page, 'Notes'),
  },
]

const workspace = openWorkspace({ profiles: undefined, seconds: 0 })
try {
  const account = await makeAccount(workspace)
  const local = await openLocal({ dataDir: account.dataDir, env: {} })
  const operations = notes.map((data) => ({ table: 'svc_notes', operation: 'INSERT', data }))
  await local.domain.sync.push(account.user, { operations }, undefined)
  await local.close()
  mkdirSync(FOLDER, { recursive: true })
  await withService(workspace, account, async ({ url }) => {
    const browser = await startChromium()
    for (const { name, options, arrange } of pictures) {
      const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
      const page = await context.newPage()
      await page.goto(url)
      await page.getByLabel('User name').fill(ADA.username)
      await page.getByRole('textbox', { name: 'Password' }).fill(ADA.password)
      await page.keyboard.press('Enter')
      await arrange(page)
      // What is loaded late (the editor) has no sign of its own to wait for.
      await page.waitForTimeout(1_500)
      await page.screenshot({ path: join(FOLDER, `${name}.jpg`), type: 'jpeg', quality: 82 })
      await context.close()
    }
    await browser.close()
  })
} finally {
  workspace.clear()
}
