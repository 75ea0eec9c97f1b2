import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { bridge } from '../../kit/bridge.ts'
import { formatNumber } from '../../kit/formats.ts'
import { formatAmount } from './amounts.ts'
import { monthly } from './store.ts'
import { words } from './words.ts'

/** Width of a month label, pixels. */
const WIDEST_NAME = 38
const HEIGHT = 170

const nameOf = (month: string): string =>
  new Intl.DateTimeFormat(document.documentElement.lang, { month: 'short' }).format(new Date(`${month}-15T12:00`))

function draw(place: HTMLElement, data: ReturnType<typeof monthly>): uPlot {
  const color = (name: string) => getComputedStyle(place).getPropertyValue(name).trim()
  const bars = (align: -1 | 1) => uPlot.paths.bars!({ size: [0.36, 28], align, radius: 0.2 })
  const axis = { stroke: color('--soft'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } }
  // If the labels do not fit, some are omitted, never the last.
  const every = (width: number) => Math.max(1, Math.ceil((data.length * WIDEST_NAME) / (width - 72)))
  const options: uPlot.Options = {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-0.6, data.length - 0.4] },
      y: { range: (_, low, high) => [Math.min(0, low), high || 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        splits: data.map((_, index) => index),
        values: ({ width }) =>
          data.map(({ month }, at) => ((data.length - 1 - at) % every(width) ? '' : nameOf(month))),
      },
      { ...axis, size: 56, values: (_, values) => values.map((value) => formatNumber(value, { notation: 'compact' })) },
    ],
    series: [
      {},
      { fill: color('--good'), paths: bars(-1), points: { show: false } },
      { fill: color('--bad'), paths: bars(1), points: { show: false } },
    ],
  }
  const height = (cents: bigint) => Number(cents) / 100
  return new uPlot(
    options,
    [
      data.map((_, index) => index),
      data.map(({ income }) => height(income)),
      data.map(({ expense }) => height(expense)),
    ],
    place,
  )
}

/** Twelve months as a bar chart, and as a table for screen readers. */
export function Chart({ currency }: { currency: string }) {
  const place = useRef<HTMLDivElement>(null)
  const data = monthly(currency)
  const key = data.map(({ month, income, expense }) => `${month} ${income} ${expense}`).join()
  useEffect(() => {
    const plot = draw(place.current!, data)
    const observer = new ResizeObserver(([entry]) =>
      plot.setSize({ width: Math.round(entry!.contentRect.width), height: HEIGHT }),
    )
    observer.observe(place.current!)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [key, bridge.theme.value])
  return (
    <figure class="chart">
      <figcaption>
        {words('chart', currency)}
        <span class="is-income">{words('income')}</span>
        <span class="is-expense">{words('expense')}</span>
      </figcaption>
      <div ref={place} class="chart-place" aria-hidden="true" />
      <div class="unseen">
        <table>
          <tbody>
            {data.map(({ month, income, expense }) => (
              <tr key={month}>
                <th scope="row">{month}</th>
                <td>{`${words('income')} ${formatAmount(income, currency)}`}</td>
                <td>{`${words('expense')} ${formatAmount(expense, currency)}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}
