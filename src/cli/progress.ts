import { formatDuration } from '../base/durations.ts'
import { formatSize } from '../base/sizes.ts'
import { printable } from '../base/text.ts'
import type { JobContext } from '../domain/backups/backups.ts'
import { interruptible } from './interruption.ts'
import { parentProgress } from './parent-progress.ts'

export interface Progress {
  add(amount: number): void
  /** Erases the line. */
  end(): void
}

export interface ProgressOutput {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** Output for progress bars; `--quiet` discards it. */
export let progressOutput: ProgressOutput = process.stderr
export const hideProgress = (): void => void (progressOutput = { write: () => undefined })

interface ProgressOptions {
  label: string
  /** Undefined if unknown. */
  total: number | undefined
  output?: ProgressOutput
  /** Milliseconds. */
  now?: () => number
  format?: (amount: number) => string
}

/** Delay before progress is shown, ms. */
const SHOW_AFTER = 600
const INTERVAL = 100
const BAR = 24

/** A bar and a percentage for `part`, 0 to 1. */
export const barOf = (part: number): string =>
  `${'█'.repeat(Math.floor(part * BAR)).padEnd(BAR, '░')} ${String(Math.floor(part * 100)).padStart(3)} %`

/** A progress line on a terminal's stderr; silent elsewhere. */
export function makeProgress(options: ProgressOptions): Progress {
  const { label, total, output = progressOutput, now = () => performance.now(), format = formatSize } = options
  const start = now()
  let done = 0
  let drawn = start + SHOW_AFTER - INTERVAL
  let shown = false

  function draw(at: number): void {
    const seconds = (at - start) / 1_000
    const rate = done / seconds
    const parts = [printable(label)]
    if (total) parts.push(barOf(Math.min(1, done / total)))
    parts.push(total ? `${format(done)} of ${format(total)}` : format(done), `${format(rate)}/s`)
    if (total && rate > 0 && done < total) parts.push(`${formatDuration(((total - done) / rate) * 1_000)} left`)
    output.write(`\r\u001b[K${parts.join('  ').slice(0, (output.columns ?? 80) - 1)}`)
    shown = true
  }

  return {
    add(amount) {
      done += amount
      const at = now()
      if (!output.isTTY || at - drawn < INTERVAL) return
      drawn = at
      draw(at)
    },
    end() {
      if (shown) output.write('\r\u001b[K')
      shown = false
    },
  }
}

/** Runs a job with a progress bar. SIGINT, SIGTERM and SIGHUP abort its signal, and the command exits with 130. */
export async function withProgress<T>(label: string, job: (context: JobContext) => Promise<T>): Promise<T> {
  let bar: Progress | undefined
  const parent = parentProgress()
  const progress = {
    total(bytes: number) {
      bar?.end()
      bar = makeProgress({ label, total: bytes })
      parent?.total(bytes)
    },
    add(bytes: number) {
      bar?.add(bytes)
      parent?.add(bytes)
    },
  }
  try {
    return await interruptible('Interrupted.', (signal) => job({ signal, progress }))
  } finally {
    bar?.end()
  }
}
