import { expect, test } from 'vitest'
import { exchangeOf } from '../../../src/client/rows/file-formats.ts'
import { readVcfFile, withKnownContacts } from '../../../src/client/rows/vcf-import.ts'
import { formatVcf } from '../../../src/client/rows/vcf-write.ts'

const card = (...lines: string[]): string => ['BEGIN:VCARD', ...lines, 'END:VCARD', ''].join('\r\n')

/** What is read of a file, without the original text. */
function read(text: string) {
  const { candidates, left } = readVcfFile(text)
  const rows = candidates.filter(({ problems }) => problems.length === 0).map(({ values }) => values)
  return {
    rows,
    left,
    said: candidates.flatMap(({ where, problems, notes = [] }) =>
      [...problems, ...notes].map((one) => `${where}: ${one}`),
    ),
  }
}

const nextcloud = card(
  'VERSION:4.0',
  'PRODID:-//Example//EN',
  'UID:urn:uuid:ada',
  'FN:Ada\\, Countess of Lovelace',
  'N:Lovelace;Ada;;;',
  'item1.EMAIL;TYPE=HOME:ada@home.example',
  'EMAIL;PREF=1;TYPE="WORK,INTERNET":ada@work.example',
  'TEL;VALUE=uri;TYPE=cell:tel:+44-20-1;ext=7',
  'ORG:Analytical\\; Engines;Design',
  'NOTE:Likes\\nwhist and a very long line that is folded somewhere in the middle of ',
  ' a word',
  'BDAY:18151210',
  'ADR;TYPE=home:;;St James Square 12;London;;SW1Y;UK',
  'X-FOO;X-BAR="a;b:c":1',
)

const outlook = card(
  'VERSION:2.1',
  'N;LANGUAGE=de;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=BCrgen',
  'FN;CHARSET=Windows-1252;ENCODING=QUOTED-PRINTABLE:J=FCrgen M=FCller, =',
  'Dr.',
  'ORG:B=ucher, Stra\\;sse;Lager',
  'NOTE;QUOTED-PRINTABLE:Erste Zeile=0D=0AZweite; mit Komma, und =3D=',
  '',
  'TEL;HOME;VOICE:030 1',
  'TEL;WORK;PREF:030 2',
  'EMAIL;PREF;INTERNET:j@example.org',
  'PHOTO;ENCODING=BASE64;JPEG:/9j/4AAQSkZJRgABAQAAAQABAAD',
  ' 2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYI',
  '',
)

test('contacts of versions 2.1, 3.0 and 4.0 become rows', () => {
  const old = card(
    'VERSION:3.0',
    'N:Hopper;Grace;Brewster;Dr.;',
    'TEL;TYPE=CELL,PREF:1',
    'TEL:2',
    'EMAIL:',
    'NICKNAME:Amazing',
  )
  expect(exchangeOf(nextcloud)).toBe('vcf')
  expect(read(nextcloud + outlook + old)).toEqual({
    rows: [
      {
        name: 'Ada, Countess of Lovelace',
        email: 'ada@work.example',
        phone: '+44-20-1 ext. 7',
        company: 'Analytical; Engines',
        note: 'Likes\nwhist and a very long line that is folded somewhere in the middle of a word',
        uid: 'urn:uuid:ada',
        other_emails: ['ada@home.example'],
        other_phones: null,
        vcard: nextcloud.replaceAll('\r\n', '\n').trimEnd(),
      },
      expect.objectContaining({
        name: 'Jürgen Müller, Dr.',
        email: 'j@example.org',
        phone: '030 2',
        other_phones: ['030 1'],
        company: 'B=ucher, Stra;sse',
        note: 'Erste Zeile\nZweite; mit Komma, und =',
        other_emails: null,
        uid: null,
      }),
      expect.objectContaining({ name: 'Dr. Grace Brewster Hopper', phone: '1', other_phones: ['2'], email: null }),
    ],
    left: { pictures: 1, groups: 0 },
    said: [],
  })
})

test('a contact comes back as it was but for what is changed, and keeps what svc has no columns for', () => {
  const [ada, juergen] = read(nextcloud + outlook).rows
  expect(formatVcf([ada!])).toBe(nextcloud)
  const changed = formatVcf([{ ...ada, name: 'Ada King', email: 'new@example.org', note: null }])
  expect(changed).toContain('FN:Ada King\r\nN:King;Ada;;;\r\n')
  expect(changed).toContain('EMAIL:new@example.org\r\nitem1.EMAIL;TYPE=HOME:ada@home.example\r\n')
  expect(changed).toContain('ADR;TYPE=home:;;St James Square 12;London;;SW1Y;UK\r\n')
  expect(changed).not.toMatch(/NOTE|work[.]example/)
  expect(read(changed).rows[0]).toMatchObject({ name: 'Ada King', email: 'new@example.org', note: null })
  expect(read(formatVcf([juergen!])).rows[0]).toEqual(juergen)
  const own = {
    name: 'Grace; Hopper',
    email: 'g@example.org',
    other_emails: ['h@example.org'],
    phone: null,
    note: 'a\\n,b\nc',
  }
  expect(read(formatVcf([own])).rows[0]).toMatchObject(own)
})

test('a contact that is known by its UID, its text or its columns is not added again', () => {
  const { candidates } = readVcfFile(nextcloud + outlook)
  const rows = candidates.map(({ values }, index) => ({ ...values, id: index + 1, version: 3 }))
  expect(withKnownContacts(candidates, rows)).toEqual([])
  const edited = rows.map((row) => ({ ...row, name: 'Changed here' }))
  expect(withKnownContacts(candidates, edited)).toEqual([])
  const changed = readVcfFile(nextcloud.replace('Countess', 'Lady')).candidates
  expect(withKnownContacts(changed, rows)).toMatchObject([
    { id: 1, replaces: 3, values: { name: 'Ada, Lady of Lovelace' } },
  ])
  const own = [{ id: 9, name: 'Plain', email: null, version: 1 }]
  expect(withKnownContacts(readVcfFile(formatVcf(own)).candidates, own)).toEqual([])
})

test('what cannot be read is said with its line, and the rest is read', () => {
  const long = `${'a'.repeat(330)}@example.org`
  const text =
    card('VERSION:3.0', 'FN:Ada') +
    card('VERSION:3.0', 'FN:', 'NOTE:nobody') +
    card('VERSION:3.0', 'no colon here') +
    card('VERSION:3.0', `EMAIL:${long}`, 'TEL:1', `FN:${'x'.repeat(600)}`) +
    card('VERSION:3.0', 'FN:Friends', 'X-ADDRESSBOOKSERVER-KIND:group') +
    card('VERSION:3.0', 'FN:Bell\0', 'TEL:1')
  const { rows, left, said } = read(text)
  expect(rows.map(({ name }) => name)).toEqual(['Ada', 'x'.repeat(500), 'Bell'])
  expect(left.groups).toBe(1)
  expect(said).toEqual([
    'contact 2 (line 5): it has no name, company, e-mail address or phone number.',
    expect.stringMatching(/^contact 3 [(]line 10[)]: it cannot be read: /),
    'contact 4 (line 14): an e-mail address has more than 320 characters and is left out.',
    'contact 4 (line 14): its name has more than 500 characters and is shortened.',
  ])
  expect(read('BEGIN:VCARD\nFN:Ada\n').said).toEqual(['the file: it is cut off: its last line is not END:VCARD.'])
  expect(read('').said).toHaveLength(1)
})

test('large and hostile files are read', () => {
  const many = card('VERSION:3.0', `NOTE:${'\\,'.repeat(100_000)}`, `N:${';'.repeat(20_000)}`, 'FN:Ada').repeat(3)
  expect(read(many).rows).toHaveLength(3)
  expect(
    read(card('VERSION:2.1', `NOTE;ENCODING=QUOTED-PRINTABLE:${'=\r\n'.repeat(50_000)}`, 'FN:Ada')).rows,
  ).toHaveLength(1)
  expect(read(card('VERSION:3.0', 'FN:A', `NOTE:${'x'.repeat(1_100_000)}`)).said).toHaveLength(1)
  const photo = card('VERSION:3.0', 'FN:A', `PHOTO;ENCODING=b:${'A'.repeat(2_000_000)}`)
  expect(read(photo)).toMatchObject({ rows: [{ name: 'A' }], left: { pictures: 1 } })
})

test('a note with commas is whole, and the preferred number of a list of types is written as the others', () => {
  const text = card(
    'VERSION:3.0',
    'FN:Ada',
    'NOTE:Tea, hot\\; cake, cold',
    'TEL;TYPE=CELL,PREF:1',
    'TEL;TYPE="pref,work";X="a:b;PREF":2',
    'TEL:3',
  )
  const [ada] = read(text).rows
  expect(ada).toMatchObject({ note: 'Tea, hot; cake, cold', phone: '1', other_phones: ['2', '3'] })
  const changed = formatVcf([{ ...ada, phone: '3', other_phones: ['1', '2'] }])
  expect(changed).toContain('TEL:3\r\nTEL;TYPE=CELL:1\r\nTEL;TYPE="work"')
  expect(read(changed).rows[0]).toMatchObject({ phone: '3', other_phones: ['1', '2'] })
})

test('pictures in addresses of data are left out, links to pictures are kept', () => {
  const link = 'PHOTO;VALUE=uri:https://example.org/a.jpg'
  const data = `PHOTO;VALUE=uri:data:image/jpeg;base64,${'A'.repeat(1_100_000)}`
  const { rows, left } = read(card('VERSION:4.0', 'FN:Ada', data, link))
  expect(left.pictures).toBe(1)
  expect(rows[0]!['vcard']).toContain(link)
})

test('contacts that were made in svc are known in their own export, whatever spaces and line ends they have', () => {
  const own = [
    { id: 1, name: 'Ada ', note: 'a\r\nb', email: '', company: ' Engines' },
    { id: 2, name: 'Grace', uid: '' },
  ]
  expect(withKnownContacts(readVcfFile(formatVcf(own)).candidates, own)).toEqual([])
})
