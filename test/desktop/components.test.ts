import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld, type Person } from '../support/desktop.ts'

let world: DesktopWorld
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

type Kind = 'css' | 'js' | 'widget'

const save = (person: Person, component_id: string, component_type: Kind, code: string) =>
  world.server.local.domain.desktop.components.save(
    { user: person.id, allowsCode: true },
    { component_id, component_type, code, metadata: {} },
  )

const sample = (name: string) =>
  readFileSync(new URL(`../../templates/sample-components/${name}`, import.meta.url), 'utf8')

const accent = ({ page }: DesktopPage) =>
  page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()")

const widget = ({ page }: DesktopPage, name: string) => page.getByRole('region', { name: `Widget ${name}` })

/** The dock, by name. */
const dock = ({ page }: DesktopPage) =>
  page.evaluate<string[]>(
    "[...document.querySelectorAll('.dock > button:not([aria-haspopup])')].map((one) => one.ariaLabel)",
  )

async function says({ page }: DesktopPage, ...texts: string[]): Promise<void> {
  await page.getByRole('button', { name: /^Notifications \(/ }).click()
  for (const text of texts) await page.getByRole('dialog').getByText(text).waitFor()
  await page.keyboard.press('Escape')
}

test('styles, hooks and widgets work on the desktop, and hostile names and labels are text', async () => {
  const person = await world.person()
  await save(person, 'accent', 'css', `:root { --accent: #123456 } body { background: url("//elsewhere.example/x") `)
  await save(person, 'second', 'css', '.dock { gap: 9px }')
  await save(person, '<b>clock</b>', 'widget', sample('clock.widget.html'))
  await save(
    person,
    '__proto__',
    'js',
    `window.__svcHooks.dock = ({ apps }) => ({
       order: ['settings', 'nothing'], hidden: apps.map(({ slug }) => slug).filter((slug) => slug !== 'settings' && slug !== 'notes'),
       labels: { notes: '<i>Slips</i>\\u202e' } })
     window.__svcHooks.panel = () => ({ windows: { notes: { x: 30, y: 20, width: 600, height: 400 } } })`,
  )
  const visited = await world.enter(person)
  const { page } = visited
  await expect.poll(() => accent(visited)).toBe('#123456')
  await expect.poll(() => page.evaluate("getComputedStyle(document.querySelector('.dock')).gap")).toBe('9px')
  const clock = widget(visited, '<b>clock</b>')
  const time = clock.locator('iframe').contentFrame().locator('#time')
  await expect.poll(() => time.textContent({ timeout: 1_000 }).catch(() => '')).toMatch(/^\d\d:\d\d$/)
  await expect.poll(() => dock(visited)).toEqual(['Settings', '<i>Slips</i>'])

  const before = (await clock.boundingBox())!
  await clock.getByRole('button').focus()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(async () => (await clock.boundingBox())?.x).toBe(before.x - 16)
  // What a widget's own page lacks is its author's affair.
  expect((await visited.flaws()).filter((flaw) => !flaw.endsWith(': html'))).toEqual([])
  await page.reload()
  await expect.poll(async () => (await clock.boundingBox())?.x).toBe(before.x - 16)

  await expect.poll(() => dock(visited)).toHaveLength(2)
  await visited.open('notes', 'Notes')
  expect(await page.getByRole('region', { name: 'Notes' }).boundingBox()).toMatchObject({ x: 30, y: 60, width: 600 })
})

test('a component reaches nothing: no network, no storage, no page around it', async () => {
  const person = await world.person()
  await save(
    person,
    'spy',
    'widget',
    `<p id="found"></p><img src="/x.png"><script src="/assets/x.js"></script><script>
       const tries = {
         cookie: () => document.cookie, storage: () => window['local' + 'Storage'].length, parent: () => parent.document.title,
         fetch: () => fetch('/api/session.php'), eval: () => window['ev' + 'al']('1'), popup: () => window.open('/').closed,
         socket: () => new WebSocket('ws://' + location.host + '/').url,
         other: () => new Promise((resolve, reject) => {
           const one = document.createElement('script')
           one.nonce = document.querySelector('script')?.nonce ?? ''
           Object.assign(one, { src: '/api/sync-status.php?action=ping', onload: resolve, onerror: reject })
           document.head.append(one)
         }),
       }
       const reached = []
       Promise.all(Object.entries(tries).map(async ([name, go]) => {
         try { await go(); reached.push(name) } catch {}
       })).then(() => { found.textContent = 'reached: ' + reached.filter((name) => name !== 'socket').join(' ') + '.' })
     </script>`,
  )
  const visited = await world.enter(person)
  const asked: string[] = []
  visited.page.on('response', (response) => asked.push(response.url()))
  // The frame by its address: one that is looked at while it is still being loaded is not the one that stays.
  const said = () =>
    visited.page
      .frames()
      .find((frame) => frame.url().endsWith('/sandbox/frame.html'))
      ?.evaluate("document.querySelector('#found')?.textContent")
  await expect.poll(said).toBe('reached: .')
  expect(asked.filter((url) => /ping|x\.js|x\.png/.test(url))).toEqual([])
})

test('what is saved appears without loading anything anew, also from another tab', async () => {
  const person = await world.person()
  const visited = await world.enter(person)
  const { page, context } = visited
  expect(await accent(visited)).not.toBe('#abcdef')
  const other = await context.newPage()
  await other.goto('/')
  await other.getByRole('navigation', { name: /dock/i }).waitFor()
  await save(person, 'accent', 'css', ':root { --accent: #abcdef }')
  await other.evaluate("new BroadcastChannel('svc.components').postMessage(null)")
  await expect.poll(() => accent(visited)).toBe('#abcdef')
  await page.close()
  expectQuiet(visited)
})

test('a component that throws, floods, hangs, leaves or answers nonsense is off, the others and the desktop go on', async () => {
  const person = await world.person()
  await save(person, 'thrower', 'js', `throw new Error('<img src=x>')`)
  await save(
    person,
    'flooder',
    'widget',
    `<script>for (let i = 0; i < 5000; i++) parent.postMessage({ i }, '*')</script>`,
  )
  await save(person, 'looper', 'js', `window.__svcHooks.dock = () => { for (;;); }`)
  await save(person, 'leaver', 'widget', `<script>location.href = '/'</script>`)
  await save(
    person,
    'liar',
    'js',
    `window.__svcHooks.dock = () => ({ order: 'all of it', labels: { notes: { toString: 1 } } })`,
  )
  await save(person, 'good', 'widget', `<p>still here</p>`)
  const visited = await world.enter(person)
  const { page } = visited
  const off = () => page.locator('.component-hooks, .widget').count()
  await expect.poll(off).toBe(1)
  await widget(visited, 'good').locator('iframe').contentFrame().getByText('still here').waitFor()
  expect(await dock(visited)).toContain('Notes')
  const failed = ['thrower', 'flooder', 'looper', 'leaver', 'liar'].map((name) => `“${name}” was stopped`)
  await says(visited, '<img src=x>', ...failed)

  await page.goto('/?safe=1')
  await says(visited, 'Started without components')
  expect(await off()).toBe(0)
})
