import type { Measured, Wanted } from './figure.ts'

const digits = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toLocaleString('en', { maximumSignificantDigits: 3 })

const ratioText = (ratio: number): string => (ratio >= 100 ? String(Math.round(ratio)) : ratio.toFixed(2))

const wantedText = (wanted: Wanted): string => {
  if (!wanted) return ''
  return 'least' in wanted ? `>= ${wanted.least}` : `<= ${wanted.most}`
}

const mark = (met: boolean | undefined): string => (met === undefined ? ' ' : met ? '✓' : '✗')

const columns: { title: string; right?: true; value: (figure: Measured) => string }[] = [
  { title: '', value: ({ met }) => mark(met) },
  { title: 'figure', value: ({ name }) => name },
  { title: 'ours', right: true, value: ({ ours }) => digits(ours) },
  { title: 'peer', right: true, value: ({ peer }) => digits(peer) },
  { title: 'unit', value: ({ unit }) => unit },
  { title: 'ratio', right: true, value: ({ ratio }) => ratioText(ratio) },
  { title: 'spread', value: ({ spread }) => spread.map(ratioText).join('–') },
  { title: 'wanted', value: ({ wanted }) => wantedText(wanted) },
  { title: 'peer is', value: ({ against }) => against },
]

/** The figures as a table, with notes below. Values are medians; the ratio is the median of the rounds' ratios. */
export function tableOf(figures: readonly Measured[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...figures.map((figure) => columns.map(({ value }) => value(figure))),
  ]
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: string[]) =>
    row
      .map((cell, column) => (columns[column]!.right ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd()
  const notes = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]))
  return [...cells.map(line), ...notes].join('\n')
}
