import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { openLocal, type Local } from '../src/wiring/local-domain.ts'
import { startModelServer } from '../test/support/model-server.ts'
import { startChromium } from '../test/support/chromium.ts'
import { ADA, makeAccount, withService } from './account.ts'
import { openWorkspace } from './workspace.ts'

// Takes the screenshots of the README: `npm run screenshots`.

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

/** Answers of the model for the screenshot of the Assistant. */
const script = [
  { calls: [{ name: 'query_rows', arguments: { table: 'svc_notes' } }] },
  {
    calls: [
      {
        name: 'write_file',
        arguments: { path: '/Turin.md', content: '# Turin\n\n- punched cards\n- ticket\n- notes' },
      },
    ],
  },
  {
    text: 'Your note names a talk **on the engine at noon** and a dinner, so I wrote a list to `/Turin.md`:\n\n| what | why |\n|---|---|\n| punched cards | Plana and Menabrea want to see them |\n| ticket | the train leaves at **9:40**, platform 7 |\n| notes on Bernoulli numbers | for the talk |\n\nShall I remind you the evening before?',
  },
]

const open = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Dock' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox', { name: 'Search everything' }).fill(name)
  await page.keyboard.press('Enter')
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
    name: 'files',
    options: { viewport: { width: 1_280, height: 800 } },
    async arrange(page) {
      await open(page, 'Files')
      await page.frameLocator('iframe[data-app="files"]').getByTitle('Engine.md').click()
    },
  },
  {
    name: 'chat',
    options: { viewport: { width: 1_280, height: 800 } },
    async arrange(page) {
      await open(page, 'Chat')
      await page.frameLocator('iframe[data-app="chat"]').getByText('Engines').first().click()
    },
  },
  {
    name: 'assistant',
    options: { viewport: { width: 1_280, height: 800 } },
    async arrange(page) {
      await open(page, 'Assistant')
      const frame = page.frameLocator('iframe[data-app="assistant"]')
      await frame
        .getByRole('textbox', { name: 'Ask the assistant' })
        .fill('What do I need for Turin? Put it on a list for me.')
      await page.keyboard.press('Enter')
      await frame.getByRole('button', { name: 'Undo' }).waitFor()
    },
  },
  {
    name: 'phone',
    options: { viewport: { width: 390, height: 780 } },
    arrange: (page) => page.getByRole('list', { name: 'Today' }).waitFor(),
  },
]

const files = [
  '/Letters/Babbage.md',
  '/Sketches/mill.svg',
  '/Engine.md',
  '/Expenses 1843.csv',
  '/Note G.pdf',
  '/Waltz.mp3',
]

/** Creates the content of the screenshots. */
async function furnish({ domain }: Local, id: number): Promise<void> {
  const insert = (table: string) => (data: object) => ({ table, operation: 'INSERT', data })
  const day = new Date().toISOString().slice(0, 10)
  const event = { title: 'Soirée at Mr Babbage’s', starts_at: `${day}T00:00:00Z`, ends_at: null, all_day: true }
  const operations = [
    ...notes.map(insert('svc_notes')),
    insert('svc_events')(event),
    insert('svc_tasks')({ title: 'Send Note G to the printer', due_on: day }),
  ]
  await domain.sync.push(id, { operations }, undefined)
  const { desktop } = domain.files
  for (const path of files) {
    await desktop.write(id, path, { staged: await desktop.receive(Readable.from([Buffer.from(path.repeat(400))])) })
  }
  const friend = { username: 'charles', display_name: 'Charles Babbage', role: 'user' } as const
  const other = await domain.accounts.create({ ...friend, password: ADA.password })
  const ada = {
    id,
    username: ADA.username,
    display_name: ADA.username,
    avatar_color: '#3b5bdb',
    role: 'admin',
  } as const
  const charles = { ...friend, id: other.id, avatar_color: '#2b8a3e' }
  const { room_id } = await domain.chat.createRoom(ada, { name: 'Engines', type: 'channel', participants: [other.id] })
  for (const [author, content] of [
    [charles, 'The mill is ready, the store is not.'],
    [ada, 'Then let us begin with **Bernoulli**. Note G has every step.'],
    [charles, '@ada you find more in it than I ever put there.'],
  ] as const) {
    await domain.chat.send(author, { room_id, content })
  }
}

const model = await startModelServer()
model.will(...script)
const workspace = openWorkspace({ profiles: undefined, seconds: 0 })
try {
  const account = await makeAccount(workspace)
  const local = await openLocal({ dataDir: account.dataDir, env: {} })
  await furnish(local, account.user)
  const { settings } = local.domain.instance
  await settings.store('assistant.base_url', model.url)
  await settings.store('assistant.chat_model', 'talker')
  await settings.store('assistant.models', [{ id: 'talker', tools: true, vision: false, context: 32_768 }])
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
      // The editor is loaded later, and nothing tells when it is ready.
      await page.waitForTimeout(1_500)
      const dismiss = page.locator('.toasts').getByRole('button')
      while ((await dismiss.count()) > 0) await dismiss.first().click()
      await page.mouse.move(1, 1)
      await page.waitForTimeout(300)
      await page.screenshot({ path: join(FOLDER, `${name}.jpg`), type: 'jpeg', quality: 82 })
      await context.close()
    }
    await browser.close()
  })
} finally {
  workspace.clear()
  await model.close()
}
