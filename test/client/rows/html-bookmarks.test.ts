import { expect, test } from 'vitest'
import { exchangeOf } from '../../../src/client/rows/file-formats.ts'
import { formatHtml, readHtmlFile, withKnownBookmarks } from '../../../src/client/rows/html-bookmarks.ts'

const head = '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n'

const chrome = `${head}<DL><p>
    <DT><H3 ADD_DATE="1" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>
    <DL><p>
        <DT><A HREF="https://example.org/?a=1&amp;b=2" ADD_DATE="1700000000" ICON="data:image/png;base64,AA>A=">Tea &amp; <b>cake</b> &#252;&#x1F600;</A>
        <DT><A HREF="javascript:alert(1)">Bookmarklet</A>
        <DT><H3>Work</H3>
        <DL><p>
            <DT><A HREF="http://intranet/">Intranet</A>
        </DL><p>
        <DT><A HREF="chrome://settings">Settings</A>
    </DL><p>
    <DT><A HREF="https://root.example/"></A>
</DL><p>
`

const firefox = `${head}<DL><p>
    <DT><H3>Menü</H3>
    <DD>The folder's description
    <DL><p>
        <DT><A HREF="https://example.com/" TAGS="one,two words">Example
</A>
        <DD>Line &lt;1&gt;
        <HR>
        <DT><A HREF="place:sort=8">Most visited</A>
        <DT><A HREF="data:text/html,x">Data</A>
    </DL>
</DL>
`

const read = (html: string) => {
  const { candidates, left } = readHtmlFile(html)
  return {
    left,
    rows: candidates.filter(({ problems }) => problems.length === 0).map(({ values }) => values),
    said: candidates.flatMap(({ where, problems }) => problems.map((one) => `${where}: ${one}`)),
  }
}

test('bookmarks of Chrome and Firefox become rows with their folders; scripts and other addresses are left out', () => {
  expect(exchangeOf(chrome)).toBe('html')
  expect(read(chrome)).toEqual({
    rows: [
      { title: 'Tea & cake ü😀', url: 'https://example.org/?a=1&b=2', folder: 'Bookmarks bar', note: null },
      { title: 'Intranet', url: 'http://intranet/', folder: 'Bookmarks bar / Work', note: null },
      { title: '', url: 'https://root.example/', folder: null, note: null },
    ],
    left: { addresses: 2 },
    said: [],
  })
  expect(read(firefox)).toEqual({
    rows: [{ title: 'Example', url: 'https://example.com/', folder: 'Menü', note: 'Line <1>\n#one #two words' }],
    left: { addresses: 2 },
    said: [],
  })
})

test('an export is read again as it was, and contains no markup of a bookmark', () => {
  const rows = [
    { title: '</A><script>"x"</script>', url: 'https://example.org/?"a"=<b>&c', folder: 'A / B', note: 'x < y' },
    { title: 'Tea', url: 'https://example.org/', folder: 'A', note: null },
    { title: 'Root', url: 'https://example.net/', folder: null, note: null },
  ]
  const html = formatHtml(rows)
  expect(html).not.toContain('<script>')
  expect(read(html).rows).toEqual(expect.arrayContaining(rows))
  expect(read(html).rows).toHaveLength(3)
  const known = rows.map((row, index) => ({ ...row, title: 'Renamed', id: index + 1 }))
  expect(withKnownBookmarks(readHtmlFile(html).candidates, known)).toEqual([])
})

test('what is cut off or too long is said, and hostile files are read in time', () => {
  expect(read(chrome.slice(0, 600)).said).toEqual(['the file: it is cut off: a folder has no end (</DL>).'])
  expect(read(`${head}<DL><p></DL><p>`).said).toEqual(['the file: it has no bookmarks.'])
  const long = `${head}<DL><p>\n<DT><A HREF="https://x/${'a'.repeat(5_000)}">x</A></DL>`
  expect(read(long).said).toEqual(['bookmark 1 (line 5): its address has more than 4000 characters.'])
  const open = `${head}<DL>${'<A HREF="https://x/\' >x'.repeat(50_000)}</DL>`
  expect(read(open).left.addresses).toBeDefined()
  expect(read(`${head}${'<DL><H3>x</H3>'.repeat(20_000)}${'</DL>'.repeat(20_000)}`).rows).toEqual([])
  for (const tag of ['<DL>', '<A>', '<B>', '<P><I>', '<A HREF="'])
    expect(read(`${head}${tag.repeat(200_000)}`).said[0]).toBe('the file: it is cut off: a folder has no end (</DL>).')
})

test('own bookmarks are known in their export, and notes keep their lines', () => {
  const own = [
    { id: 1, title: 'Tea', url: 'https://example.org/ ', folder: ' A  b /  / C', note: 'one\ntwo  words\r\n\r\nthree' },
    { id: 2, title: 'Root', url: 'https://example.net/', folder: '', note: '' },
  ]
  const { candidates } = readHtmlFile(formatHtml(own))
  expect(withKnownBookmarks(candidates, own)).toEqual([])
  expect(candidates.find(({ values }) => values['title'] === 'Tea')!.values['note']).toBe('one\ntwo words\n\nthree')
})
