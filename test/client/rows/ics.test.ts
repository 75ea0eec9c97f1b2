import { describe, expect, test } from 'vitest'
import { formatIcs } from '../../../src/client/rows/ics-write.ts'
import { calendarOf, intoCalendar, readCalendarFile } from '../../../src/client/rows/calendars.ts'
import { readIcsFile, withKnownEvents } from '../../../src/client/rows/ics-import.ts'
import { readIcs } from '../../../src/client/rows/ics-read.ts'
import { exchangeOf } from '../../../src/client/rows/file-formats.ts'
import { changesOf } from '../../../src/client/rows/row-import.ts'

const file = (...lines: string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Example//EN', ...lines, 'END:VCALENDAR', ''].join('\r\n')
const event = (...lines: string[]): string[] => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']
const rowsOf = (text: string): Record<string, unknown>[] =>
  readIcs(text, 'Europe/Berlin').map(({ values }) => ({ ...values, id: 1 }))

/** A series as other programs write it, with much that svc has no columns for. */
const series = file(
  'BEGIN:VTIMEZONE',
  'TZID:Customized Time Zone',
  'BEGIN:STANDARD',
  'DTSTART:16010101T000000',
  'TZOFFSETFROM:-0300',
  'TZOFFSETTO:-0300',
  'END:STANDARD',
  'END:VTIMEZONE',
  ...event(
    'UID:choir@example.org',
    'DTSTAMP:20260101T000000Z',
    'DTSTART;TZID=Europe/Berlin:20260302T190000',
    'DURATION:PT1H30M',
    'RRULE:FREQ=WEEKLY;BYDAY=MO,TH;WKST=SU',
    'EXDATE;TZID=Europe/Berlin:20260305T190000,20260309T190000',
    'EXDATE;TZID=Europe/Berlin:20260402T190000',
    'SUMMARY;LANGUAGE=en:Choir\\, the small',
    '  one',
    'DESCRIPTION:Bring\\nwater',
    'ORGANIZER;CN=Ada:mailto:ada@example.org',
    'X-COLOUR;X-SHADE="a;b":blue',
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    'TRIGGER:-PT15M',
    'END:VALARM',
  ),
  ...event(
    'UID:choir@example.org',
    'RECURRENCE-ID;TZID=Europe/Berlin:20260312T190000',
    'DTSTART;TZID=Europe/Berlin:20260312T200000',
    'SUMMARY:Concert',
  ),
  ...event('UID:b', 'DTSTART;VALUE=DATE:20260326', 'SUMMARY:Ada', 'RRULE:FREQ=YEARLY'),
  ...event('UID:c', 'DTSTART:20260326T120000', 'SUMMARY:Lunch'),
  ...event('UID:d', 'DTSTART;TZID=Customized Time Zone:20260326T120000', 'DTEND:20260326T160000Z'),
)

test('events of a file become rows with series, exceptions, whole days and zones of their own', () => {
  expect(exchangeOf(series)).toBe('ics')
  const [choir, concert, birthday, lunch, custom] = rowsOf(series)
  expect(choir).toMatchObject({
    title: 'Choir, the small one',
    note: 'Bring\nwater',
    starts_at: '2026-03-02T18:00:00.000Z',
    ends_at: '2026-03-02T19:30:00.000Z',
    tzid: 'Europe/Berlin',
    uid: 'choir@example.org',
    exdates: ['2026-03-05T18:00:00.000Z', '2026-03-09T18:00:00.000Z', '2026-04-02T17:00:00.000Z'],
  })
  expect(concert).toMatchObject({ recurrence_id: '2026-03-12T18:00:00.000Z', starts_at: '2026-03-12T19:00:00.000Z' })
  expect(birthday).toMatchObject({ all_day: true, ends_at: '2026-03-27T00:00:00.000Z', rrule: 'FREQ=YEARLY' })
  expect(lunch).toMatchObject({ starts_at: '2026-03-26T11:00:00.000Z', ends_at: null, tzid: 'Europe/Berlin' })
  expect(custom).toMatchObject({ title: '', starts_at: '2026-03-26T15:00:00.000Z', tzid: null })
})

test('what came from a file comes back as it was, wherever it is written', () => {
  const lines = (text: string): string[] => text.split('\r\n').filter((line) => !line.startsWith('PRODID'))
  expect(lines(formatIcs(rowsOf(series)))).toEqual(lines(series))
})

test('what is changed is written, and the rest of the event stays', () => {
  const [choir] = rowsOf(series)
  const text = formatIcs([{ ...choir, title: 'Choir; \\ new', starts_at: '2026-03-02T18:30:00.000Z' }])
  expect(text).toContain('SUMMARY:Choir\\; \\\\ new\r\n')
  expect(text).toContain('DTSTART;TZID=Europe/Berlin:20260302T193000\r\n')
  for (const kept of ['X-COLOUR;X-SHADE="a;b":blue', 'TRIGGER:-PT15M', 'CN=Ada', 'RRULE:FREQ=WEEKLY;BYDAY=MO,TH'])
    expect(text).toContain(kept)
  expect(rowsOf(text)[0]).toMatchObject({ title: 'Choir; \\ new', rrule: choir!['rrule'], exdates: choir!['exdates'] })
})

test('rows that were made in svc are written and read again', () => {
  const rows = [
    {
      title: 'Long '.repeat(40),
      starts_at: '2026-03-29T00:30:00.000Z',
      ends_at: null,
      all_day: false,
      location: 'Größe, 😀',
    },
    {
      title: 'Day',
      starts_at: '2026-03-29T00:00:00Z',
      ends_at: '2026-03-31T00:00:00Z',
      all_day: true,
      exdates: ['2026-03-30T00:00:00Z'],
      rrule: 'FREQ=DAILY;COUNT=3',
    },
    {
      title: 'Zone',
      starts_at: '2026-03-02T08:00:00Z',
      all_day: false,
      tzid: 'America/New_York',
      rrule: 'FREQ=WEEKLY;UNTIL=20260501T035959Z',
      uid: 'z',
    },
  ].map((row, index) => ({ ...row, id: index + 1, updated_at: '2026-01-01T00:00:00Z' }))
  const text = formatIcs(rows)
  expect(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 76)).toBe(true)
  const again = rowsOf(text)
  for (const [index, row] of rows.entries()) {
    const { id: _id, updated_at: _updated, starts_at, ends_at, exdates, ...rest } = row as Record<string, unknown>
    expect(again[index]).toMatchObject(rest)
    expect(Date.parse(again[index]!['starts_at'] as string)).toBe(Date.parse(starts_at as string))
    if (ends_at) expect(Date.parse(again[index]!['ends_at'] as string)).toBe(Date.parse(ends_at as string))
    if (exdates) expect(again[index]!['exdates']).toEqual(['2026-03-30T00:00:00.000Z'])
  }
  // A rule that is none leaves the event, and nothing can be added to the file by it.
  const hostile = formatIcs([{ ...rows[0]!, rrule: 'FREQ=DAILY\r\nATTENDEE:x', tzid: 'X:Y\r\nZ', uid: 'a\r\nb' }])
  expect(hostile).not.toMatch(/^(ATTENDEE|Z|b)/m)
})

test('line ends of every kind in a text come back from an export, and none of them begins a property', () => {
  const row = { id: 1, created_at: '2026-01-01T10:00:00.000Z', starts_at: '2026-03-26T12:00:00.000Z', reminders: ['5'] }
  const texts = { title: 'Tea\rATTENDEE:x', note: 'a\r\nTime: 5\rb\nc', location: 'd\re', uid: 'u\rf' }
  const text = formatIcs([{ ...row, ...texts }])
  expect(text).not.toMatch(/^(?:ATTENDEE|Time|b|e|f)/m)
  const { candidates } = readIcsFile(text, 'UTC')
  expect(candidates).toMatchObject([
    { values: { title: 'Tea\nATTENDEE:x', note: 'a\nTime: 5\nb\nc', location: 'd\ne', uid: 'u\nf' }, problems: [] },
  ])
  expect(withKnownEvents(candidates, [{ ...row, ...texts }])).toEqual([])
})

test('damaged events are reported and the others are read, and no file keeps the program busy', () => {
  const damaged = file(
    ...event('SUMMARY:No beginning'),
    ...event('DTSTART:never', 'SUMMARY:Bad'),
    ...event('no property at all'),
    ...event('DTSTART:20260230T250000Z', 'SUMMARY:Thirtieth of February'),
    ...event('DTSTART:20260326T120000Z', 'RRULE:FREQ=SOMETIMES', 'SUMMARY:Rule'),
    ...event('DTSTART:20260326T120000Z', `SUMMARY:${'x'.repeat(2_000_000)}`),
    ...event('UID:good', 'DTSTART:20260326T120000Z'),
  )
  const read = readIcs(damaged, 'UTC')
  expect(read).toHaveLength(7)
  expect(read[6]).toMatchObject({ problems: [], values: { uid: 'good' } })
  for (const index of [0, 1, 2, 5]) expect(read[index]!.problems).toHaveLength(1)
  for (const text of ['', 'BEGIN:VCALENDAR', 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nBEGIN:VEVENT', '\0'.repeat(1_000)])
    expect(readIcs(text, 'UTC')).toEqual([])
  // Zones that change every second, written in several ways.
  for (const rule of [
    'RRULE:FREQ=SECONDLY',
    'rrule:FREQ=SECONDLY',
    'RRULE:FREQ=\n SECONDLY',
    'RRULE;X=1:FREQ=MINUTELY',
  ]) {
    const zone = `BEGIN:VTIMEZONE\nTZID:E\nBEGIN:STANDARD\nDTSTART:00010101T000000\n${rule}\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:STANDARD\nEND:VTIMEZONE`
    const [hostile] = readIcs(`BEGIN:VCALENDAR\n${zone}\n${event('DTSTART;TZID=E:20260101T000000').join('\n')}`, 'UTC')
    expect(hostile!.values).toMatchObject({ starts_at: '2026-01-01T00:00:00.000Z', tzid: null })
  }
})

test('a file that is imported again changes nothing, even if it gives several events one identity', () => {
  const text = file(
    ...event('UID:twice', 'DTSTART:20260326T100000Z', 'SUMMARY:First'),
    ...event('UID:twice', 'DTSTART:20260327T100000Z', 'SUMMARY:Second'),
  )
  const rows = readIcsFile(text, 'UTC').candidates.map(({ values }, index) => ({
    ...values,
    id: index + 1,
  }))
  expect(withKnownEvents(readIcsFile(text, 'UTC').candidates, rows)).toEqual([])
  const changed = withKnownEvents(readIcsFile(text.replace('Second', 'Third'), 'UTC').candidates, rows)
  expect(changed).toMatchObject([{ id: 2, values: { title: 'Third' } }])
})

test('what a file lacks is said: its end, its events, and the time zones that it names', () => {
  const problemsOf = (text: string): string[] =>
    readIcsFile(text, 'Europe/Berlin').candidates.flatMap(({ where, problems }) =>
      problems.map((problem) => `${where}: ${problem}`),
    )
  const text = file(...event('UID:a', 'DTSTART:20260326T100000Z'), ...event('UID:b', 'DTSTART:20260327T100000Z'))
  expect(problemsOf(text)).toEqual([])
  expect(problemsOf(text.slice(0, -60))).toEqual(['the file: it is cut off: its last line is not END:VCALENDAR.'])
  expect(problemsOf(file())).toEqual(['the file: it has no events.'])
  expect(problemsOf(text.replaceAll('\r\n', '\r'))).toEqual([])
  expect(readIcsFile(text.replaceAll('\r\n', '\r'), 'UTC').candidates).toHaveLength(2)
  expect(problemsOf(file(...event('DTSTART;TZID=Nowhere/Never:20260326T100000')))).toEqual([
    'event 1 (line 4): it cannot be read: its time zone "Nowhere/Never" is not known, and the file does not define it.',
  ])
  const prefixed = file(...event('DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20260326T100000'))
  expect(readIcsFile(prefixed, 'UTC').candidates[0]!.values).toMatchObject({
    starts_at: '2026-03-26T09:00:00.000Z',
    tzid: 'Europe/Berlin',
  })
})

const alarm = (...lines: string[]): string[] => ['BEGIN:VALARM', ...lines, 'END:VALARM']

/** An event with all kinds of alarms. */
const alarmed = file(
  ...event(
    'UID:train',
    'DTSTART:20260326T120000Z',
    'SUMMARY:Train',
    ...alarm('ACTION:DISPLAY', 'DESCRIPTION:Pack', 'TRIGGER:-PT1H30M'),
    ...alarm('ACTION:AUDIO', 'TRIGGER;RELATED=START:-P1D', 'X-SOUND:bell'),
    ...alarm('ACTION:DISPLAY', 'DESCRIPTION:Now', 'TRIGGER:PT0S'),
    ...alarm('ACTION:DISPLAY', 'DESCRIPTION:End', 'TRIGGER;RELATED=END:-PT5M'),
    ...alarm('ACTION:EMAIL', 'TRIGGER:-PT2H', 'ATTENDEE:mailto:ada@example.org'),
    ...alarm('ACTION:DISPLAY', 'DESCRIPTION:Fixed', 'TRIGGER;VALUE=DATE-TIME:20260326T080000Z'),
    ...alarm('ACTION:DISPLAY', 'DESCRIPTION:Damaged'),
  ),
)

test('alarms that show something before or after the start become reminders; what is not changed stays as it was', () => {
  const [train] = rowsOf(alarmed)
  expect(train!['reminders']).toEqual(['90', '1440', '0', '5', '240'])
  expect(formatIcs([train!])).toContain('X-SOUND:bell')
  // An older client that imported the event knows no reminders.
  expect(formatIcs([{ ...train, reminders: null, title: 'Tram' }])).toContain('X-SOUND:bell')
})

test('reminders that are changed are written as alarms, also when there are none any more', () => {
  const [train] = rowsOf(alarmed)
  const text = formatIcs([{ ...train, reminders: ['15', '-30'] }])
  expect(rowsOf(text)[0]!['reminders']).toEqual(['15', '-30'])
  expect(text).toContain('TRIGGER:-PT15M\r\n')
  expect(text).toContain('TRIGGER:PT30M\r\n')
  expect(text).not.toContain('X-SOUND:bell')
  expect(text).toContain('ACTION:EMAIL\r\n')
  expect(rowsOf(formatIcs([{ ...train, reminders: [] }]))[0]!['reminders']).toBeNull()
  const made = { id: 1, title: 'Tea; hot', starts_at: '2026-03-26T12:00:00.000Z', reminders: ['5'] }
  expect(rowsOf(formatIcs([made]))[0]!['reminders']).toEqual(['5'])
})

/** The rows of a file, what is said of them, and the number of cancelled events. */
function imported(text: string) {
  const { candidates, left } = readIcsFile(text, 'Europe/Berlin')
  return {
    rows: candidates.filter(({ problems }) => problems.length === 0).map(({ values }) => values),
    problems: candidates.flatMap(({ where, problems }) => problems.map((problem) => `${where}: ${problem}`)),
    notes: candidates.flatMap(({ notes = [] }) => notes),
    cancelled: left.cancelled,
  }
}

const zone = (name: string, ...lines: string[]): string[] => [
  'BEGIN:VTIMEZONE',
  `TZID:${name}`,
  ...lines,
  'END:VTIMEZONE',
]

/** The clock of Central Europe, as Outlook writes it. */
const central = [
  'BEGIN:STANDARD',
  'DTSTART:16010101T030000',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10',
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:16010101T020000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3',
  'END:DAYLIGHT',
]

const weekly = (tzid: string): string[] =>
  event('UID:w', `DTSTART;TZID=${tzid}:20260105T090000`, 'RRULE:FREQ=WEEKLY', 'SUMMARY:Standup')

test.each([
  ['W. Europe Standard Time', [], 'Europe/Berlin', '2026-01-05T08:00:00.000Z'],
  ['W. Europe Standard Time', central, 'Europe/Berlin', '2026-01-05T08:00:00.000Z'],
  ['eastern standard time', [], 'America/New_York', '2026-01-05T14:00:00.000Z'],
  ['(UTC+01:00) Amsterdam, Berlin', central, 'Europe/Berlin', '2026-01-05T08:00:00.000Z'],
  [
    'Customized Time Zone',
    ['BEGIN:STANDARD', 'DTSTART:16010101T000000', 'TZOFFSETFROM:-0300', 'TZOFFSETTO:-0300', 'END:STANDARD'],
    'Etc/GMT+3',
    '2026-01-05T12:00:00.000Z',
  ],
  [
    'India',
    ['BEGIN:STANDARD', 'DTSTART:16010101T000000', 'TZOFFSETFROM:+0530', 'TZOFFSETTO:+0530', 'END:STANDARD'],
    'Asia/Kolkata',
    '2026-01-05T03:30:00.000Z',
  ],
])('a series in the time zone %s keeps its hour, defined by %s', (name, lines, tzid, starts_at) => {
  const text = file(
    ...(lines.length > 0 ? zone(name, ...lines) : []),
    ...weekly(name.includes(',') ? `"${name}"` : name),
  )
  expect(imported(text)).toMatchObject({ rows: [{ tzid, starts_at }], notes: [], problems: [] })
})

test('a series in a time zone like none, and one that cannot be read, are reported', () => {
  const odd = central.map((line) => line.replace('+0200', '+0217'))
  const hostile = [
    'BEGIN:STANDARD',
    'DTSTART:16010101T000000',
    'RRULE:FREQ=SECONDLY',
    'TZOFFSETFROM:+0530',
    'TZOFFSETTO:+0530',
    'END:STANDARD',
  ]
  expect(imported(file(...zone('Odd', ...odd), ...weekly('Odd')))).toMatchObject({
    rows: [{ tzid: null, starts_at: '2026-01-05T08:00:00.000Z' }],
    notes: ['its time zone "Odd" is like none that is known; it repeats by UTC.'],
  })
  expect(imported(file(...zone('Bad', ...hostile), ...weekly('Bad')))).toMatchObject({
    rows: [{ tzid: 'Europe/Berlin', starts_at: '2026-01-05T08:00:00.000Z' }],
    notes: ['its time zone "Bad" cannot be read; its times are taken for those of Europe/Berlin.'],
  })
})

test('reminders at a time or before the end count from the start; those that cannot be converted are reported', () => {
  const alarms = [
    ...alarm('ACTION:DISPLAY', 'TRIGGER;VALUE=DATE-TIME:20260105T070000Z'),
    ...alarm('ACTION:DISPLAY', 'TRIGGER;RELATED=END:-PT15M'),
    ...alarm('ACTION:DISPLAY', 'DESCRIPTION:No time'),
  ]
  const lines = ['UID:a', 'DTSTART:20260105T080000Z', 'DURATION:PT1H', ...alarms]
  const single = imported(file(...event(...lines)))
  expect(single).toMatchObject({
    rows: [{ reminders: ['60', '-45'] }],
    notes: ['a reminder has no time and is left out.'],
  })
  expect(imported(file(...event('RRULE:FREQ=DAILY', ...lines)))).toMatchObject({
    rows: [{ reminders: ['-45'] }],
    notes: [
      'a reminder at a fixed time does not repeat with the series and is left out.',
      'a reminder has no time and is left out.',
    ],
  })
  // Moved by a day, it still reminds an hour before.
  const moved = { ...single.rows[0], id: 1, starts_at: '2026-01-06T08:00:00.000Z', ends_at: '2026-01-06T09:00:00.000Z' }
  expect(imported(formatIcs([moved])).rows[0]).toMatchObject({ reminders: ['60', '-45'] })
})

const daily = event(
  'UID:d',
  'DTSTART;TZID=Europe/Berlin:20260326T090000',
  'DTEND;TZID=Europe/Berlin:20260326T100000',
  'RRULE:FREQ=DAILY;COUNT=10',
  'EXDATE;TZID=Europe/Berlin:20260327T090000,20260401T090000',
  'SUMMARY:Before',
)
const changed = (day: string, start: string, ...lines: string[]): string[] =>
  event(
    'UID:d',
    `RECURRENCE-ID${lines[0]};TZID=Europe/Berlin:${day}T090000`,
    `DTSTART;TZID=Europe/Berlin:${start}`,
    ...lines.slice(1),
  )

test('a change of all that follow divides a series, also across a change of the clock', () => {
  const text = file(
    ...changed('20260402', '20260402T180000', '', 'SUMMARY:Evening'),
    ...daily,
    ...changed('20260330', '20260330T110000', ';RANGE=THISANDFUTURE', 'SUMMARY:After'),
  )
  const { rows, notes, problems } = imported(text)
  expect([...notes, ...problems]).toEqual([])
  const [evening, before, after] = rows
  expect(before).toMatchObject({ rrule: 'FREQ=DAILY;UNTIL=20260330T065959Z', exdates: ['2026-03-27T08:00:00.000Z'] })
  expect(after).toMatchObject({
    title: 'After',
    starts_at: '2026-03-30T09:00:00.000Z',
    tzid: 'Europe/Berlin',
    rrule: 'FREQ=DAILY;COUNT=6',
    exdates: ['2026-04-01T09:00:00.000Z'],
    recurrence_id: null,
  })
  expect(after!['uid']).not.toBe('d')
  expect(evening).toMatchObject({ uid: after!['uid'], recurrence_id: '2026-04-02T09:00:00.000Z' })
  // Written and read again, it is the same.
  const again = imported(formatIcs(rows.map((row, index) => ({ ...row, id: index + 1 })))).rows
  expect(again.map(({ ical: _, ...row }) => row)).toEqual(rows.map(({ ical: _, ...row }) => row))
  const first = imported(
    file(...daily, ...changed('20260326', '20260326T110000', ';RANGE=THISANDFUTURE', 'SUMMARY:All')),
  )
  expect(first.rows).toMatchObject([
    { title: 'All', uid: 'd', starts_at: '2026-03-26T10:00:00.000Z', rrule: 'FREQ=DAILY;COUNT=10' },
  ])
  const other = imported(file(...changed('20260330', '20260330T110000', ';RANGE=THISANDFUTURE')))
  expect(other.notes).toEqual([
    'it changes all that follow; only this one is changed, because its series is not in the file.',
  ])
})

test('cancelled events are left out and counted, cancelled occurrences are left out of their series', () => {
  const { rows, cancelled, problems } = imported(
    file(
      ...daily,
      ...changed('20260328', '20260328T090000', '', 'STATUS:CANCELLED'),
      ...changed('20260331', '20260331T090000', ';RANGE=THISANDFUTURE', 'STATUS:CANCELLED'),
      ...event('UID:x', 'DTSTART:20260326T120000Z', 'STATUS:CANCELLED'),
    ),
  )
  expect(problems).toEqual([])
  expect(cancelled).toBe(1)
  expect(rows).toMatchObject([
    {
      rrule: 'FREQ=DAILY;UNTIL=20260331T065959Z',
      exdates: ['2026-03-27T08:00:00.000Z', '2026-03-28T08:00:00.000Z'],
    },
  ])
})

test('a changed occurrence that a newer file cancels is not exported, and one that its own file names takes place', () => {
  const moved = ['UID:d', 'RECURRENCE-ID;TZID=Europe/Berlin:20260328T090000', 'DTSTART:20260328T100000Z']
  const lines = ['UID:d', 'DTSTART;TZID=Europe/Berlin:20260326T090000', 'RRULE:FREQ=DAILY;COUNT=10']
  const exdate = 'EXDATE;TZID=Europe/Berlin:20260328T090000,20260329T090000'
  const rows = readIcsFile(file(...event(...lines), ...event(...moved)), 'UTC').candidates.map(
    ({ values }, index): Record<string, unknown> => ({ ...values, id: index + 1 }),
  )
  expect(formatIcs(rows)).toContain('RECURRENCE-ID')
  const newer = file(...event(...lines), ...event(...moved, 'STATUS:CANCELLED'))
  for (const text of [newer, file(...event(...lines, exdate))]) {
    const [update, ...others] = withKnownEvents(readIcsFile(text, 'UTC').candidates, rows)
    expect([update!.id, others]).toEqual([1, []])
    const updated = [{ ...rows[0], ...update!.values }, rows[1]!]
    const exported = formatIcs(updated)
    expect(exported).not.toContain('RECURRENCE-ID')
    expect(withKnownEvents(readIcsFile(exported, 'UTC').candidates, updated)).toEqual([])
  }
  const both = rowsOf(file(...event(...lines, exdate), ...event(...moved)))
  expect(both[0]!['exdates']).toHaveLength(2)
  const { candidates } = readIcsFile(file(...event(...lines, exdate), ...event(...moved)), 'UTC')
  expect(candidates[0]!.values['exdates']).toEqual(['2026-03-29T07:00:00.000Z'])
  expect(formatIcs(candidates.map(({ values }, index) => ({ ...values, id: index + 1 })))).toContain('RECURRENCE-ID')
})

test('what is out of range is refused with its line, a second rule is reported, and the other events are read', () => {
  const { rows, notes, problems } = imported(
    file(
      ...event('UID:1', 'DTSTART:00010101T000000Z'),
      ...event('UID:2', 'DTSTART:20260326T120000Z', 'DURATION:P99999999D'),
      ...event('UID:3', 'DTSTART:20260326T120000Z', 'RRULE:FREQ=DAILY', 'RRULE:FREQ=YEARLY'),
      ...event('UID:4', 'DTSTART:16040326T120000Z'),
      ...event('UID:5', 'DTSTART:20260326T120000Z', `EXDATE:${'20260327T120000Z,'.repeat(4_000)}20260328T120000Z`),
    ),
  )
  expect(problems).toEqual([
    'event 1 (line 4): it cannot be read: the year 1 is not between 100 and 9999.',
    'event 2 (line 8): it cannot be read: a time of it is not between the years 100 and 9999.',
    expect.stringMatching(/^event 5 [(]line 23[)]: exdates must be a list .* at most 50000 characters/),
  ])
  expect(notes).toEqual(['it has 2 rules; only the first is used.'])
  expect(rows).toMatchObject([{ uid: '3', rrule: 'FREQ=DAILY' }, { starts_at: '1604-03-26T12:00:00.000Z' }])
})

describe('the name and the colour of a file', () => {
  const head = (...lines: string[]): string => file(...lines, ...event('UID:a', 'DTSTART:20260326T120000Z'))

  test.each([
    ['X-WR-CALNAME:Work', 'Work'],
    ['NAME:Work', 'Work'],
    ['X-WR-CALNAME;VALUE=TEXT:Work\\, home\\; and\\nall \\\\', 'Work, home; and all \\'],
    ['X-WR-CALNAME:Foot\n ball', 'Football'],
    ['X-WR-CALNAME:   ', undefined],
    ['X-WR-CALNAME:\u0007', undefined],
    [`X-WR-CALNAME:${'é'.repeat(600)}`, 'é'.repeat(500)],
    ['X-OTHER:Work', undefined],
  ])('%s', (line, name) => {
    expect(readCalendarFile(head(line))).toEqual({ name, color: undefined })
  })

  test('are those of the file, not of an event', () => {
    const inEvent = file(...event('UID:a', 'X-WR-CALNAME:Event', 'DTSTART:20260326T120000Z'))
    expect(readCalendarFile(inEvent).name).toBeUndefined()
    expect(readCalendarFile(head('X-APPLE-CALENDAR-COLOR:#1B6E3CFF')).color).toBe('#1b6e3c')
    expect(readCalendarFile(head('X-APPLE-CALENDAR-COLOR:red;}')).color).toBeUndefined()
  })

  test('come back from an export, however long and whatever its signs', () => {
    const name = 'Family, friends; \\ and 🐧'.repeat(8)
    const text = formatIcs([], { name, color: '#1b6e3c' })
    expect(readCalendarFile(text)).toEqual({ name, color: '#1b6e3c' })
    expect(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 76)).toBe(true)
  })
})

test('events belong to the calendar that they name, or to the default one', () => {
  const calendars = [
    { id: 3, uid: 'b', is_default: true },
    { id: 1, uid: 'a', is_default: false },
    { id: 2, uid: 'b', is_default: true },
  ]
  expect([
    calendarOf(calendars, 'a')?.id,
    calendarOf(calendars, 'b')?.id,
    calendarOf(calendars, 'gone')?.id,
    calendarOf(calendars, null)?.id,
    calendarOf([], 'a'),
  ]).toEqual([1, 2, 2, 2, undefined])
})

test('an event that exists moves to the calendar that its file is imported into, and keeps its calendar without one', () => {
  const [known] = rowsOf(series)
  const rows = [{ ...known, calendar_uid: 'home', version: 4 }]
  const candidates = readIcsFile(series, 'UTC').candidates.slice(0, 1)
  expect(withKnownEvents(candidates, rows)).toEqual([])
  expect(withKnownEvents(intoCalendar(candidates, 'home'), rows)).toEqual([])
  expect(withKnownEvents(intoCalendar(candidates, 'work'), rows)).toMatchObject([
    { id: 1, replaces: 4, values: { calendar_uid: 'work' } },
  ])
})

test('an event keeps its operation when others of its file were imported before', () => {
  const texts = ['one', 'two', 'three'].map((uid) => event(`UID:${uid}`, 'DTSTART:20260302T190000Z', `SUMMARY:${uid}`))
  const text = file(...texts.flat())
  const all = readIcsFile(text, 'UTC').candidates.map((candidate, position) => ({
    ...candidate,
    position,
  }))
  const first = changesOf('svc_events', all, text, false)
  const rows = rowsOf(file(...texts[0]!))
  const rest = changesOf('svc_events', withKnownEvents(all, rows), text, false)
  expect(rest.map(({ op_id }) => op_id)).toEqual(first.slice(1).map(({ op_id }) => op_id))
})

/** A zone with one rule of changes. */
const ruled = (...lines: string[]): string[] => [
  'BEGIN:STANDARD',
  ...lines,
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'END:STANDARD',
]

test.each([
  ['folded in its name', ['DTSTART:00010101T000000', 'RR', ' ULE:FREQ=SECONDLY']],
  ['without any date', ['DTSTART:20010101T000000', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYDAY=9SU']],
  ['from the first century', ['DTSTART:00010101T000000', 'RRULE:FREQ=YEARLY']],
  ['of a month that is none', ['DTSTART:20010101T000000', 'RRULE:FREQ=YEARLY;BYMONTH=99;BYDAY=1SU']],
  ['that ends before it begins', ['DTSTART:20010101T000000', 'RRULE:FREQ=YEARLY;UNTIL=19990101T000000Z']],
])('a zone with a rule %s is not read', (_, lines) => {
  const text = file(...zone('Bad', ...ruled(...lines)), ...weekly('Bad'), ...weekly('Bad'))
  const { rows, notes } = imported(text)
  expect(rows).toMatchObject([{ starts_at: '2026-01-05T08:00:00.000Z', tzid: 'Europe/Berlin' }, {}])
  expect(notes[0]).toBe('its time zone "Bad" cannot be read; its times are taken for those of Europe/Berlin.')
})

test('zones are read for events of all years, and only some of a file with many', () => {
  const years = Array.from({ length: 100 }, (_, index) => 2026 + index * 80)
  const events = years.flatMap((year) => event(`UID:${year}`, `DTSTART;TZID=Own:${year}0705T120000`))
  const { rows } = imported(file(...zone('Own', ...central), ...events))
  expect(rows.map(({ starts_at }) => starts_at)).toEqual(years.map((year) => `${year}-07-05T10:00:00.000Z`))
  const names = Array.from({ length: 60 }, (_, index) => `Own ${index}`)
  const single = ruled('DTSTART:20200101T000000', ...Array<string>(5).fill('RRULE:FREQ=YEARLY'))
  const many = imported(
    file(
      ...names.flatMap((name) => zone(name, ...single)),
      ...names.flatMap((name) => event(`UID:${name}`, `DTSTART;TZID=${name}:20260705T120000`)),
    ),
  )
  expect(many.notes).toHaveLength(40)
})

test('an event that cannot be written as it was is written from its columns, and the others with it', () => {
  const [choir] = rowsOf(series)
  const deep = 'BEGIN:A\n'.repeat(20_000) + 'END:A\n'.repeat(20_000)
  const times = { starts_at: '2026-03-02T18:00:00.000Z', all_day: false }
  const text = formatIcs([
    { id: 1, title: 'Rule', ...times, rrule: 'FREQ=daily' },
    { id: 2, title: 'Deep', ...times, ical: `BEGIN:VEVENT\nDTSTART:20260101T000000Z\n${deep}END:VEVENT` },
    {
      id: 3,
      title: 'Member',
      ...times,
      ical: 'BEGIN:VEVENT\nDTSTART:20260101T000000Z\nATTENDEE;MEMBER="mailto:a";MEMBER="mailto:b":mailto:c\nEND:VEVENT',
    },
    { ...choir, id: 5, rrule: 'FREQ=daily', title: 'Changed' },
    choir!,
  ])
  const rows = rowsOf(text)
  expect(rows.map(({ title }) => title)).toEqual(['Rule', 'Deep', 'Member', 'Changed', 'Choir, the small one'])
  expect(rows.slice(0, 3).map(({ starts_at }) => starts_at)).toEqual(Array(3).fill(times.starts_at))
  expect(rows[0]!['rrule']).toBeNull()
  expect(text).toContain('X-COLOUR;X-SHADE="a;b":blue')
})

test('an event in small letters, and a zone whose name is folded, come back', () => {
  const small = ['begin:vevent', 'dtstart;tzid=Own:20260705T120000', 'summary:Small', 'end:vevent']
  const utc = ['begin:vevent', 'uid:u', 'dtstart:20260705T100000Z', 'summary:In UTC', 'end:vevent']
  const folded = event('UID:f', 'DTSTART;TZID=Ow', ' n:20260705T120000', 'SUMMARY:Folded')
  const text = formatIcs(
    rowsOf(file('BEGIN:VTIMEZONE', 'TZID:O', ' wn', ...central, 'END:VTIMEZONE', ...small, ...utc, ...folded)),
  )
  expect(rowsOf(text)).toMatchObject([
    { title: 'Small', starts_at: '2026-07-05T10:00:00.000Z' },
    { title: 'In UTC', starts_at: '2026-07-05T10:00:00.000Z' },
    { title: 'Folded', starts_at: '2026-07-05T10:00:00.000Z' },
  ])
})

describe('what has no UID', () => {
  const own = [
    { id: 5, title: 'Tea', starts_at: '2026-03-26T12:00:00Z', uid: null, created_at: '2026-01-01T10:00:00.500Z' },
    { id: 6, title: 'Day', starts_at: '2026-03-26T00:00:00Z', all_day: true, reminders: ['15'], rrule: 'FREQ=DAILY' },
  ]
  const read = (rows: readonly Record<string, unknown>[]) => readIcsFile(formatIcs(rows), 'UTC').candidates

  test('is known in its own account by the UID of its export, and not in another one', () => {
    expect(withKnownEvents(read(own), own)).toEqual([])
    expect(withKnownEvents(read([{ ...own[0]!, title: 'Cake' }]), own)).toMatchObject([
      { id: 5, values: { title: 'Cake' } },
    ])
    const other = [{ ...own[0]!, created_at: '2026-01-01T10:00:00.501Z' }]
    expect(withKnownEvents(read(own).slice(0, 1), other)).toMatchObject([{ values: { title: 'Tea' } }])
    expect(withKnownEvents(read(own).slice(0, 1), other)[0]).not.toHaveProperty('id')
  })

  test('and repeats has one UID with its changed occurrences, also where these name its ID', () => {
    const times = { starts_at: '2026-03-27T15:00:00.000Z', recurrence_id: '2026-03-27T12:00:00.000Z' }
    const rows = [{ ...own[0]!, rrule: 'FREQ=DAILY' }, { id: 7, title: 'Cake', uid: '5', ...times }, own[1]!]
    const uid = `5-${Date.parse('2026-01-01T10:00:00.500Z')}@svc`
    expect(read(rows).map(({ values }) => values['uid'])).toEqual([uid, uid, '6-0@svc'])
    expect(withKnownEvents(read(rows), rows)).toEqual([])
    const changed = [{ ...rows[0]! }, { ...rows[1]!, title: 'Pie' }]
    expect(withKnownEvents(read(changed), rows)).toMatchObject([{ id: 7, values: { title: 'Pie', uid } }])
    // A series whose UID looks like an ID keeps its own.
    const other = { ...own[1]!, uid: '5' }
    expect(read([...rows.slice(0, 2), other]).map(({ values }) => values['uid'])).toEqual([uid, '5', '5'])
  })

  test('is known by its text if it came from a file, also after a change', () => {
    const text = file(...event('UID:', 'DTSTART:20260326T100000Z'), ...event('DTSTART:20260327T100000Z', 'SUMMARY:B'))
    const { candidates } = readIcsFile(text, 'UTC')
    expect(candidates.map(({ values }) => values['uid'])).toEqual([null, null])
    const rows = candidates.map(({ values }, index) => ({ ...values, id: index + 1 }))
    expect(withKnownEvents(candidates, rows)).toEqual([])
    const renamed = rows.map((row) => ({ ...row, title: 'Renamed' }))
    expect(withKnownEvents(candidates, renamed)).toEqual([])
    expect(withKnownEvents(read(renamed), renamed)).toEqual([])
  })
})

test('two zones of one name keep the hours of their events', () => {
  const at = (offset: string): Record<string, unknown>[] =>
    rowsOf(
      file(
        ...zone('Own', ...ruled('DTSTART:20000101T000000').map((line) => line.replace('+0200', offset))),
        ...event(`UID:${offset}`, 'DTSTART;TZID=Own:20260705T120000', 'DTEND;TZID=Own:20260705T130000'),
      ),
    )
  const rows = [...at('+0200'), ...at('-0500'), ...at('+0200')]
  const text = formatIcs(rows)
  const times = ({ starts_at, ends_at }: Record<string, unknown>): unknown[] => [starts_at, ends_at]
  expect(rowsOf(text).map(times)).toEqual(rows.map(times))
  expect(text.match(/^TZID:.*$/gm)).toEqual(['TZID:Own', 'TZID:Own (2)'])
})

test('what is too long for a column is said, and no character is cut in two', () => {
  const emoji = 'x'.repeat(499) + '😀'
  const rule = `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 366 }, (_, index) => index + 1).join()}`
  const start = 'DTSTART:20260326T120000Z'
  const { rows, notes, problems } = imported(
    file(
      ...event('UID:t', start, `SUMMARY:${emoji}`, `LOCATION:${'y'.repeat(2_001)}`),
      ...event('UID:r', start, `RRULE:${rule};UNTIL=20270101T000000Z`),
    ),
  )
  expect(rows).toMatchObject([{ title: 'x'.repeat(499), location: 'y'.repeat(2_000) }])
  expect(notes).toEqual([
    'its name has more than 500 characters and is shortened.',
    expect.stringMatching(/^location must be a text of at most 2000 characters/),
  ])
  expect(problems).toEqual([expect.stringMatching(/rrule must be a text of at most 1000 characters/)])
})

test('attachments that make an event too long are left out and counted', () => {
  const base64 = Array.from({ length: 15_000 }, () => ` ${'A'.repeat(70)}`)
  const link = 'ATTACH:https://example.org/a.pdf'
  const { candidates, left } = readIcsFile(
    file(...event('UID:a', 'DTSTART:20260326T120000Z', 'ATTACH;VALUE=BINARY;ENCODING=BASE64:A', ...base64, link)),
    'UTC',
  )
  expect(left).toMatchObject({ attachments: 1 })
  expect(candidates).toMatchObject([{ problems: [], values: { ical: expect.stringContaining(link) as string } }])
  expect(candidates[0]!.values['ical']).not.toContain('BASE64')
})

test('a day of a series with hours leaves out the occurrence of that day, and days of a duration are those of the clock', () => {
  const { rows } = imported(
    file(
      ...event(
        'UID:e',
        'DTSTART;TZID=Europe/Berlin:20260328T090000',
        'DURATION:P1DT1H',
        'RRULE:FREQ=DAILY',
        'EXDATE;VALUE=DATE:20260330',
      ),
    ),
  )
  // The clock changes on 29 March.
  expect(rows).toMatchObject([{ ends_at: '2026-03-29T08:00:00.000Z', exdates: ['2026-03-30T07:00:00.000Z'] }])
})

test('a change of all that follow after the end of a series does not prolong it', () => {
  const ending = daily.map((line) => line.replace('COUNT=10', 'UNTIL=20260328T080000Z'))
  const late = changed('20260330', '20260330T110000', ';RANGE=THISANDFUTURE', 'STATUS:CANCELLED')
  expect(imported(file(...ending, ...late)).rows).toMatchObject([{ rrule: 'FREQ=DAILY;UNTIL=20260328T080000Z' }])
})

test('thousands of cancelled occurrences are each left out once', () => {
  const days = Array.from({ length: 2_000 }, (_, index) => new Date(Date.UTC(2026, 0, 1 + (index % 1_500), 9)))
  const texts = days.map((day) => day.toISOString().slice(0, 19).replaceAll(/[-:]/g, ''))
  const { rows } = imported(
    file(
      ...event('UID:s', 'DTSTART:20260101T090000Z', 'RRULE:FREQ=DAILY'),
      ...texts.flatMap((text) => event('UID:s', `DTSTART:${text}Z`, `RECURRENCE-ID:${text}Z`, 'STATUS:CANCELLED')),
    ),
  )
  expect(rows[0]!['exdates']).toHaveLength(1_500)
})
