import Table from 'cli-table3'

/** How a column is laid out; its title may carry colours. */
export interface TableColumn {
  title: string
  align: 'left' | 'right'
}

/** cli-table3 looks at every row again for every row: for 10,000 of them it takes a minute. */
const LONG = 100

const GAP = 2

/** Lays rows of printable cells out below their titles, without borders. Lines have no spaces at their ends. */
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

/** Texts that take as many columns of the terminal as they have characters, as most do. */
const PLAIN = /^[ -~]*$/

/** Columns that each of these cells takes. What measures other than plain ones is loaded where there are any: it takes a while. */
async function widthsOf(cells: readonly (readonly string[])[]): Promise<number[][]> {
  const isPlain = cells.every((row) => row.every((text) => PLAIN.test(text)))
  if (isPlain) return cells.map((row) => row.map((text) => text.length))
  const { default: stringWidth } = await import('string-width')
  return cells.map((row) => row.map((text) => (PLAIN.test(text) ? text.length : stringWidth(text))))
}
