import { readFile } from 'node:fs/promises'
import type { Frame } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectQuiet, startWorld, type DesktopPage, type DesktopWorld } from '../support/desktop.ts'
import { rowsAndCursorOf } from '../support/everything.ts'

let world: DesktopWorld
beforeAll(async () => void (world = await startWorld()))
afterAll(() => world?.close())

async function withApp(slug: string, table: string, options = {}) {
  const person = await world.person()
  const visited = await world.enter(person, options)
  // Another address of the same page does not load it again.
  await visited.page.goto('about:blank')
  await visited.page.goto(`/#open=${slug}`)
  await visited.page.locator(`iframe[data-app="${slug}"]`).waitFor()
  const app = await visited.app(slug)
  const rows = async () =>
    (await rowsAndCursorOf(world.server.local.domain.sync, person.id, [table])).data[table] as unknown as Record<
      string,
      unknown
    >[]
  return { visited, app, rows }
}

const choose = (app: Frame, name: string, text: string | Buffer) =>
  app.locator('input[type=file]').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text as string) })

/** The name and the text of an exported file. */
async function exported({ page }: DesktopPage, app: Frame, item: string, more = 'More') {
  await app.getByRole('button', { name: more, exact: true }).click()
  const download = page.waitForEvent('download')
  await app.getByRole('menuitem', { name: item }).click()
  const saved = await download
  return { name: saved.suggestedFilename(), text: await readFile(await saved.path(), 'utf8') }
}

const card = (...lines: string[]): string => ['BEGIN:VCARD', ...lines, 'END:VCARD', ''].join('\r\n')
const ada = card(
  'VERSION:4.0',
  'UID:ada',
  'FN:Ada Lovelace',
  'EMAIL:ada@example.org',
  'EMAIL;TYPE=work:ada@work.example',
  'X-ROOM:4',
)
const old = card('VERSION:2.1', 'N;QUOTED-PRINTABLE:M=C3=BCller;J=C3=BCrgen', 'PHOTO;BASE64;JPEG:/9j/4AAQ')
const nameless = card('VERSION:3.0', 'NOTE:Nobody')

test('contacts are imported, shown, changed, exported as they were, and undone', async () => {
  const { visited, app, rows } = await withApp('contacts', 'svc_contacts')
  await choose(app, 'people.vcf', ada + old + nameless)
  await app.getByText('2 added, 0 updated.').waitFor()
  const said = await app.locator('.toast').first().textContent()
  expect(said).toContain('1 picture was left out.')
  expect(said).toContain('contact 3 (line 14): it has no name, company, e-mail address or phone number.')
  await app.getByRole('option', { name: /Jürgen Müller/ }).waitFor()
  await app.getByRole('option', { name: /Ada Lovelace/ }).click()
  expect(await app.getByLabel('Further e-mail addresses').inputValue()).toBe('ada@work.example')
  await app.getByRole('link', { name: 'Write an e-mail: ada@work.example' }).waitFor()
  expect(await visited.flaws()).toEqual([])

  await app.getByLabel('Further e-mail addresses').fill('ada@work.example\n\nada@home.example\n')
  await expect
    .poll(async () => (await rows()).find(({ uid }) => uid === 'ada')?.['other_emails'])
    .toEqual(['ada@work.example', 'ada@home.example'])
  const { name, text } = await exported(visited, app, 'Export as vCard (.vcf)')
  expect(name).toBe('contacts.vcf')
  for (const line of ['EMAIL;TYPE=work:ada@work.example', 'EMAIL:ada@home.example', 'X-ROOM:4', 'N:Müller;Jürgen'])
    expect(text).toContain(`${line}\r\n`)
  await choose(app, 'people.vcf', old)
  await app.getByText('0 added, 0 updated.').waitFor()
  await app.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(rows).toEqual([])
  expectQuiet(visited)
})

test('in German, what a file lacks is said in German', async () => {
  const { app, rows } = await withApp('contacts', 'svc_contacts', { locale: 'de-DE' })
  await choose(app, 'leute.vcf', nameless + ada + card('VERSION:3.0', 'broken'))
  await app.getByText('1 hinzugefügt, 0 aktualisiert.').waitFor()
  const said = await app.locator('.toast').first().textContent()
  expect(said).toContain('Kontakt 1 (Zeile 1): Name, Firma, E-Mail-Adresse und Telefonnummer fehlen.')
  expect(said).toContain('Kontakt 3 (Zeile 13): Der Eintrag ist beschädigt und lässt sich nicht lesen.')
  await choose(app, 'termine.ics', 'BEGIN:VCALENDAR\nEND:VCALENDAR\n')
  await app.getByText('termine.ics ist keine Datei, die sich hier importieren lässt: .vcf, .csv, .json.').waitFor()
  await choose(app, 'alt.vcf', Buffer.from([0x42, 0xfc, 0x0a]))
  await app.getByText('alt.vcf ist kein Text in UTF-8.').waitFor()
  expect(await rows()).toHaveLength(1)
})

test('rows go to a spreadsheet and come back, and those that are there already are not added', async () => {
  const { visited, app, rows } = await withApp('contacts', 'svc_contacts')
  await choose(app, 'people.csv', 'name,email\nAda,ada@example.org\n"=1+1",\nGrace,x,y\n')
  await app.getByText('2 added, 0 updated.').waitFor()
  expect(await app.locator('.toast').first().textContent()).toContain(
    'line 4: it has 3 fields but the first line has 2.',
  )
  const { name, text } = await exported(visited, app, 'Export as CSV (.csv)')
  expect(name).toBe('contacts.csv')
  expect(text).toContain("'=1+1")
  await choose(app, 'again.csv', text)
  await app.getByText('0 added, 0 updated.').waitFor()
  expect((await rows()).map((row) => row['name'])).toEqual(['Ada', '=1+1'])
  await choose(app, 'other.csv', 'wrong,columns\n1,2\n')
  await app.getByText('other.csv cannot be read. Line 1: svc_contacts has no column "wrong"').waitFor()
})

test('bookmarks of a browser are imported with their folders, and exported for another', async () => {
  const { visited, app, rows } = await withApp('bookmarks', 'svc_bookmarks')
  const links = '<DT><A HREF="https://example.org/">Tea &amp; cake</A>\n<DT><A HREF="javascript:alert(1)">Run</A>\n'
  const html = `<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><H3>Work</H3>\n<DL><p>\n${links}</DL><p>\n</DL><p>\n`
  await choose(app, 'bookmarks.html', html)
  await app.getByText('1 added, 0 updated.').waitFor()
  expect(await app.locator('.toast').first().textContent()).toContain(
    '1 address that is not of a web page was left out.',
  )
  await app.getByRole('link', { name: /Tea & cake/ }).waitFor()
  expect(await rows()).toMatchObject([{ title: 'Tea & cake', url: 'https://example.org/', folder: 'Work' }])
  const { name, text } = await exported(visited, app, 'Export as HTML (.html)')
  expect(name).toBe('bookmarks.html')
  expect(text).toMatch(
    /<DT><H3>Work<\/H3>\s+<DL><p>\s+<DT><A HREF="https:\/\/example.org\/" ADD_DATE="\d+">Tea &#38; cake<\/A>/,
  )
  await choose(app, 'cut.html', html.slice(0, 100))
  await app.getByText('the file: it is cut off: a folder has no end').waitFor()
  expect(await visited.flaws()).toEqual([])
})

test('every app for structured data imports and exports its rows', async () => {
  const files: Record<string, string> = {
    notes: 'title,content\nTea,"hot, green"\n',
    docs: 'title,tags\nTea,"[""a"",""b""]"\n',
    tasks: 'title,due_on\nTea,2026-11-27\n',
    finance: 'kind,amount_cents,currency,booked_on\nexpense,250,EUR,2026-11-26\n',
    places: 'name,latitude,longitude\nTea house,52.5,13.4\n',
  }
  const person = await world.person()
  const visited = await world.enter(person)
  for (const [slug, text] of Object.entries(files)) {
    await visited.page.goto('about:blank')
    await visited.page.goto(`/#open=${slug}`)
    await visited.page.locator(`iframe[data-app="${slug}"]`).waitFor()
    const app = await visited.app(slug)
    await choose(app, `${slug}.csv`, text)
    await app.getByText('1 added, 0 updated.').waitFor()
    const saved = await exported(visited, app, 'Export as CSV (.csv)')
    expect(saved.name).toMatch(/[.]csv$/)
    await choose(app, 'again.csv', saved.text)
    await app.getByText('0 added, 0 updated.').waitFor()
  }
  expectQuiet(visited)
})

test('at 200 % zoom the menu to import and export is inside the window, in German too', async () => {
  const viewport = { width: 640, height: 400 }
  for (const [slug, table] of Object.entries({
    contacts: 'svc_contacts',
    calendar: 'svc_events',
    notes: 'svc_notes',
  })) {
    const { visited, app } = await withApp(slug, table, { viewport, deviceScaleFactor: 2, locale: 'de-DE' })
    await app.getByRole('button', { name: 'Mehr', exact: true }).click()
    const item = app.getByRole('menuitem').last()
    await item.waitFor()
    // What is at the corners of the menu is the menu.
    expect(
      await app.evaluate(`(() => {
        const menu = document.querySelector('[role=menu]')
        const { left, right, top, bottom } = menu.getBoundingClientRect()
        const corners = [[left + 8, top + 8], [right - 8, top + 8], [left + 8, bottom - 8], [right - 8, bottom - 8]]
        return corners.every(([x, y]) => menu.contains(document.elementFromPoint(x, y)))
      })()`),
    ).toBe(true)
    expect(await visited.flaws()).toEqual([])
    await visited.page.keyboard.press('Escape')
    await item.waitFor({ state: 'detached' })
  }
})
