import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, BrowserContextOptions, Frame, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { PASSWORD } from './browser.ts'
import { startChromium } from './chromium.ts'
import { startServer, type ServerOptions, type TestServer } from './server.ts'

export interface Person {
  id: number
  username: string
}

/** A page of the desktop, with its errors. */
export interface DesktopPage {
  page: Page
  context: BrowserContext
  /** Script errors and violations of the content security policy so far. */
  complaints: string[]
  /** The frame of an open app. */
  app(slug: string): Promise<Frame>
  /** Opens an app from the launcher and waits until it has rendered. */
  open(slug: string, name: string): Promise<Frame>
  login(username: string, password?: string): Promise<void>
  /** Current accessibility violations in the page and all its frames. */
  flaws(): Promise<string[]>
}

/** A server, a browser and users; one per test file. */
export interface DesktopWorld {
  server: TestServer
  browser: Browser
  person(role?: 'user' | 'admin'): Promise<Person>
  /** A page in a new browser profile, in English by default; nobody is signed in. It is closed with the test. */
  visit(options?: BrowserContextOptions): Promise<DesktopPage>
  /** The same with a signed-in user. */
  enter(person: Person, options?: BrowserContextOptions): Promise<DesktopPage>
  close(): Promise<void>
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const RULES =
  "{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'], rules: { region: { enabled: false } } }"

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary?: string }[]
}

/** What is behind a modal dialog is inert, and inspected when there is none. */
const INSPECTED = "document.querySelector('dialog:modal') ?? document"

async function flawsOf(frame: Frame): Promise<string[]> {
  // The source is large, and stays loaded in the page.
  if (!(await frame.evaluate("'axe' in self"))) await frame.evaluate(axe)
  const { violations } = await frame.evaluate<{ violations: Violation[] }>(
    `axe.run(${INSPECTED}, { iframes: false, resultTypes: ['violations'], ...${RULES} })`,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

/** Whether a frame is visible: the prewarmed one is not. */
async function isSeen(frame: Frame): Promise<boolean> {
  return frame.parentFrame() === null || (await frame.frameElement()).isVisible()
}

async function open(browser: Browser, url: string, options: BrowserContextOptions): Promise<DesktopPage> {
  const context = await browser.newContext({
    baseURL: url,
    locale: 'en-GB',
    timezoneId: 'UTC',
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    // Routes of a test do not see what a service worker fetches.
    serviceWorkers: 'block',
    ...options,
  })
  // Pages that stay open render, poll and hold streams.
  onTestFinished(() => context.close())
  context.setDefaultTimeout(30_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // Other browsers support the directive.
    if (message.text() === "Unrecognized Content-Security-Policy directive 'webrtc'.") return
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  await page.goto('/')

  async function app(slug: string): Promise<Frame> {
    const element = await page.locator(`iframe[data-app="${slug}"]`).last().elementHandle()
    return (await element!.contentFrame())!
  }

  return {
    page,
    context,
    complaints,
    app,
    async open(slug, name) {
      await page.keyboard.press('Control+k')
      await page.getByRole('searchbox', { name: 'Search everything' }).fill(name)
      await page.keyboard.press('Enter')
      const frame = await app(slug)
      await frame.locator('#root > *').first().waitFor()
      return frame
    },
    async login(username, password = PASSWORD) {
      await page.getByLabel('User name').fill(username)
      await page.getByRole('textbox', { name: 'Password' }).fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
    },
    async flaws() {
      const all = await Promise.all(page.frames().map(async (frame) => ((await isSeen(frame)) ? flawsOf(frame) : [])))
      return all.flat()
    },
  }
}

let people = 0

/** Starts a server and a browser, for `beforeAll`; the caller closes them. */
export async function startWorld(options: ServerOptions = {}): Promise<DesktopWorld> {
  const server = await startServer(options)
  const browser = await startChromium()
  const world: DesktopWorld = {
    server,
    browser,
    person: (role = 'user') =>
      server.local.domain.accounts.create({
        username: `ada-${++people}`,
        display_name: 'Ada',
        password: PASSWORD,
        role,
      }),
    visit: (pageOptions = {}) => open(browser, server.url, pageOptions),
    async enter({ id }, pageOptions = {}) {
      const { sessions } = server.local.domain.accounts
      const cookie = await server.database.write('instance', (tx) =>
        sessions.begin(tx, id, { ip: '127.0.0.1', userAgent: 'Browser' }),
      )
      const { hostname } = new URL(server.url)
      const state = { name: 'PHPSESSID', value: cookie, domain: hostname, path: '/', httpOnly: true, secure: false }
      const visited = await open(browser, server.url, {
        storageState: { cookies: [{ ...state, sameSite: 'Lax', expires: -1 }], origins: [] },
        ...pageOptions,
      })
      await visited.page.getByRole('navigation', { name: /dock/i }).waitFor()
      return visited
    },
    async close() {
      await browser.close()
      await server.close()
    },
  }
  return world
}

/** Asserts that there were no errors. */
export const expectQuiet = ({ complaints }: DesktopPage): void => expect(complaints).toEqual([])
