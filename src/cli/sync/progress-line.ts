import { formatCount, pluralize } from '../../base/counts.ts'
import { formatDuration } from '../../base/durations.ts'
import { formatSize } from '../../base/sizes.ts'
import type { Progress } from '../../client/sync/index.ts'
import { barOf, progressOutput, type ProgressOutput } from '../progress.ts'

/** Texts for the server's rate limits, by their names in the API. */
const limited: Record<string, string> = {
  sync_upload: 'upload',
  sync_download: 'download',
  sync_delete: 'deletion',
  sync_mkdir: 'new folder',
  sync_move: 'move',
  sync_manifest: 'listing',
  sync_delta: 'question for changes',
  sync_initial_sync: 'listing',
  sync_upload_batch: 'upload of batches',
  sync_download_batch: 'download of batches',
  sync_files_batch: 'batches of changes',
}

export const limitWords = (limit: string): string => limited[limit] ?? 'requests'

/** For example `limited by upload: 60/min`. */
export const limitText = ({ limit, max, per }: NonNullable<Progress['limited_by']>): string =>
  `limited by ${limitWords(limit)}: ${max}/${per === 60 ? 'min' : `${per} s`}`

interface Options {
  screen?: ProgressOutput
  /** Milliseconds. */
  now?: () => number
}

/** A line on a terminal's stderr with the progress of a run and what it waits for; silent elsewhere. */
export function makeProgressLine({ screen = progressOutput, now = () => performance.now() }: Options = {}) {
  const start = now()
  let shown = false
  return {
    show(progress: Progress): void {
      if (!screen.isTTY) return
      screen.write(`\r\u001b[K${lineOf(progress, now() - start).slice(0, (screen.columns ?? 80) - 1)}`)
      shown = true
    },
    /** Erases the line. */
    end(): void {
      if (shown) screen.write('\r\u001b[K')
      shown = false
    },
  }
}

function lineOf(progress: Progress, elapsed: number): string {
  const { files, of_files, bytes, of_bytes, part, seconds_left: seconds, limited_by: by } = progress
  const left = seconds === null ? undefined : formatDuration(seconds * 1_000)
  const head = `${pluralize(of_files, 'file')}  ${barOf(part)}`
  if (by) {
    const about = left === undefined ? '' : `, about ${left}`
    return `${head}  ${formatCount(files)} done, ${limitText(by)}${about}`
  }
  const moved = `${formatSize(bytes)} of ${formatSize(of_bytes)}`
  const speed = elapsed > 0 ? `  ${formatSize(Math.round((bytes * 1_000) / elapsed))}/s` : ''
  return `${head}  ${moved}${speed}${left === undefined || part === 1 ? '' : `  ${left} left`}`
}
