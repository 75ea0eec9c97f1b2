import Table from 'cli-table3'

/** Layout of a column; its title may contain colours. */
export interface TableColumn {
  title: string
  align: 'left' | 'right'
}

/** cli-table3 rescans every row for every row: 10,000 rows take a minute. */
const LONG = 100

const GAP = 2

/** Lays out rows of printable cells under their titles, without borders or trailing spaces. */
export async function tableText(columns: readonly TableColumn[], rows: readonly string[][]): Promise<string> {
  const lines = rows.length > LONG ? await longTable(columns, rows) : shortTable(columns, rows)
  return lines.map((line) => line.trimEnd()).join('\n')
}

const BORDERS =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid middle'

function shortTable(columns: readonly TableColumn[], rows: readonly string[][]): string[] {
  const table = new Table({
    head: columns.map(({ title }) => title),
    colAligns: columns.map(({ align }) => align),
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': GAP },
    chars: Object.fromEntries(BORDERS.split(' ').map((name) => [name, ''])),
  })
  table.push(...rows)
  return table.toString().split('\n')
}

async function longTable(columns: readonly TableColumn[], rows: readonly string[][]): Promise<string[]> {
  const cells = [columns.map(({ title }) => title), ...rows]
  const widths = await widthsOf(cells)
  const widest = columns.map((_, column) => widths.reduce((most, row) => Math.max(most, row[column]!), 0))
  return cells.map((row, index) =>
    row
      .map((text, column) => {
        const filling = ' '.repeat(widest[column]! - widths[index]![column]!)
        return columns[column]!.align === 'right' ? filling + text : text + filling
      })
      .join(' '.repeat(GAP)),
  )
}

/** Texts whose width equals their length, as most do. */
const PLAIN = /^[ -~]*$/

/** Width of each cell. The slow library for other characters is loaded only if needed. */
async function widthsOf(cells: readonly (readonly string[])[]): Promise<number[][]> {
  const isPlain = cells.every((row) => row.every((text) => PLAIN.test(text)))
  if (isPlain) return cells.map((row) => row.map((text) => text.length))
  const { default: stringWidth } = await import('string-width')
  return cells.map((row) => row.map((text) => (PLAIN.test(text) ? text.length : stringWidth(text))))
}
