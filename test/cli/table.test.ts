import { Chalk } from 'chalk'
import { expect, test } from 'vitest'
import { tableText } from '../../src/cli/table.ts'

const paint = new Chalk({ level: 2 })
const names = [
  'ada',
  'Ada Lovelace',
  'José',
  'Jose\u0301',
  '東京',
  '👩‍💻 at work',
  '',
  'x'.repeat(40),
  ' spaced ',
  'ｆｕｌｌ',
]
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, row) => [names[row % names.length]!, String(row), 'end'])

test('a table has its titles above, its columns two spaces apart, and no spaces at the ends of lines', async () => {
  const columns = [
    { title: 'USER', align: 'left' },
    { title: 'USED', align: 'right' },
    { title: 'STATE', align: 'left' },
  ] as const
  const rows = [
    ['ada', '10 GB', 'active'],
    ['lovelace', '5 B', ''],
  ]
  expect(await tableText(columns, rows)).toBe('USER       USED  STATE\nada       10 GB  active\nlovelace    5 B')
})

test('a long table looks like a short one, whatever is in it', async () => {
  const columns = [
    { title: paint.bold('NAME'), align: 'left' },
    { title: paint.bold('NUMBER'), align: 'right' },
    { title: paint.bold('LAST'), align: 'left' },
  ] as const
  const [short, long] = [await tableText(columns, rowsOf(100)), await tableText(columns, rowsOf(101))]
  expect(long.split('\n').slice(0, -1).join('\n')).toBe(short)
})

test('a table of ten thousand rows takes no minute', async () => {
  const columns = Array.from({ length: 10 }, (_, index) => ({ title: `COLUMN ${index}`, align: 'left' as const }))
  const rows = Array.from({ length: 10_000 }, (_, row) => columns.map((_, column) => `cell ${row} ${column}`))
  expect((await tableText(columns, rows)).split('\n')).toHaveLength(10_001)
})
