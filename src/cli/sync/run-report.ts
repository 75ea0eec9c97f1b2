import { formatCount, pluralize } from '../../base/counts.ts'
import { formatDuration } from '../../base/durations.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import type { Changes, Planned, Summary, SyncEvent } from '../../client/sync/index.ts'
import type { ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../time-format.ts'
import { limitText, limitWords, makeProgressLine } from './progress-line.ts'
import { reasons } from './reason-texts.ts'

/** Most operations shown as text; the summary counts the rest. */
const LINES = 40
/** Shortest wait or duration that is announced, seconds. */
const ANNOUNCE_SECONDS = 5

const OPERATIONS: Record<Planned['op'], string> = {
  'move-local': 'move local',
  'move-remote': 'move remote',
  upload: 'upload',
  download: 'download',
  'remove-local': 'delete local',
  'remove-remote': 'delete remote',
  'make-local': 'folder local',
  'make-remote': 'folder remote',
  'set-aside': 'conflict',
  touch: 'set time',
}

/** A path without the leading slash. */
const shown = (path: string): string => printable(path.replace(/^\//, ''))

/** Reports a sync run as text or JSON. */
export function makeRunReport(io: Io) {
  const progress = makeProgressLine()
  let lines = 0
  let ignored = 0
  /** Whether the delay by rate limits was announced. */
  let isAnnounced = false
  let isRetrying = false

  function line(op: Planned): void {
    lines += 1
    const size = op.size === undefined ? '' : ` (${formatSize(op.size)})`
    const target = op.copy ?? op.to
    const way = target === undefined ? '' : ` → ${shown(target)}`
    const inside = op.files === undefined ? '' : ` (${pluralize(op.files, 'file')})`
    const why = op.reason ? io.paint.dim(`  ${reasons[op.reason]}`) : ''
    const tail = `${way}${inside}${size}${why}`
    const words = lines > LINES && !io.json ? '' : `${OPERATIONS[op.op].padEnd(15)}${shown(op.path)}${tail}`
    if (words !== '') progress.end()
    io.event(words, op)
  }

  function ignoredLine({ path, file, line: at, pattern }: Extract<SyncEvent, { event: 'ignored' }>): void {
    ignored += 1
    if (ignored > LINES) return
    const rule = file === '' ? `always: ${pattern}` : `${file.slice(1)}:${at}: ${pattern}`
    io.event(`${'ignore'.padEnd(15)}${shown(path)}${io.paint.dim(`  ${printable(rule)}`)}`, undefined)
  }

  function forPeople(event: SyncEvent): void {
    if (event.event === 'progress') progress.show(event)
    else if (event.event === 'plan') line(event)
    else if (event.event === 'done') line(event)
    else if (event.event === 'ignored') ignoredLine(event)
    else if (event.event === 'notice') io.info(event.message)
    else if (event.event === 'retrying') {
      progress.end()
      if (!isRetrying) io.info(`${printable(event.message)} Trying again until ${formatTime(event.until)}.`)
      isRetrying = true
    } else if (event.event === 'stopped') {
      progress.end()
      const did = changesIn(event)
      if (did.length > 0) io.info(`Done before that: ${did.join(', ')}.`)
    } else if (event.event === 'planned') {
      progress.end()
      isAnnounced = event.seconds >= ANNOUNCE_SECONDS && event.limited_by !== null
      if (isAnnounced) {
        const time = formatDuration(event.seconds * 1_000)
        io.info(`${pluralize(event.transfers, 'file')}, ${limitText(event.limited_by!)}, about ${time}`)
      }
    } else if (event.event === 'waiting' && !isAnnounced && event.ms >= 1_000 * ANNOUNCE_SECONDS) {
      progress.end()
      io.info(`Waiting ${formatDuration(event.ms)}: the server limits requests (${limitWords(event.limit)}).`)
    }
  }

  return {
    event(event: SyncEvent): void {
      if (!io.json) forPeople(event)
      else io.event('', event)
    },
    summary(summary: Summary): ExitCode {
      progress.end()
      if (io.json) io.event('', { event: 'summary', ...summary })
      else {
        if (lines > LINES) io.info(`… and ${formatCount(lines - LINES)} more.`)
        if (ignored > LINES) io.info(`… and ${formatCount(ignored - LINES)} more ignored; --json lists all.`)
        io.event(sentences(io, summary), undefined)
      }
      if (summary.refused) return 8
      return summary.skipped.length + summary.conflicts.length + (summary.rows?.new_rejected ?? 0) > 0 ? 3 : 0
    },
    end: (): void => progress.end(),
  }
}

/** Short descriptions of what a run changed; empty if nothing. */
export function changesIn(summary: Changes & Pick<Summary, 'rows'>): string[] {
  const { uploaded, downloaded, conflicts, rows } = summary
  return [
    uploaded.files > 0 ? `uploaded ${pluralize(uploaded.files, 'file')} (${formatSize(uploaded.bytes)})` : '',
    downloaded.files > 0 ? `downloaded ${pluralize(downloaded.files, 'file')} (${formatSize(downloaded.bytes)})` : '',
    summary.moved_here > 0 ? `moved ${summary.moved_here} locally` : '',
    summary.moved_there > 0 ? `moved ${summary.moved_there} on the server` : '',
    summary.removed_here > 0 ? `deleted ${summary.removed_here} locally` : '',
    summary.removed_there > 0 ? `deleted ${summary.removed_there} on the server` : '',
    rows && rows.sent > 0 ? `sent ${pluralize(rows.sent, 'change')} of rows` : '',
    rows && rows.received > 0 ? `received ${pluralize(rows.received, 'row')}` : '',
    conflicts.length > 0 ? `kept ${pluralize(conflicts.length, 'conflict copy', 'conflict copies')}` : '',
  ].filter((part) => part !== '')
}

function sentences(io: Io, summary: Summary): string {
  const { skipped, rows, dry_run: dryRun } = summary
  const did = changesIn(summary)
  const text: string[] = []
  if (summary.refused) text.push(summary.refused.message)
  else if (dryRun)
    text.push(summary.in_sync ? 'In sync: there is nothing to do.' : 'Nothing was changed: this was a dry run.')
  else {
    const state =
      skipped.length === 0 ? io.paint.green('In sync') : io.paint.yellow('In sync, except for skipped items')
    text.push(`${state}: ${did.length > 0 ? did.join(', ') : 'there was nothing to do'}.`)
  }
  if (rows && rows.conflicts + rows.refused > 0) {
    text.push(
      `${pluralize(rows.conflicts + rows.refused, 'change')} of rows cannot be applied: svc sync conflicts shows why.`,
    )
  }
  if (skipped.length > 0) text.push(skippedText(io, skipped))
  return text.join('\n')
}

const NAMED = 10

/** The first skipped files with their reasons, and the number of the others. */
export function skippedText(io: Io, skipped: Summary['skipped']): string {
  const lines = skipped
    .slice(0, NAMED)
    .map(({ path, message }) => `  ${shown(path) || '.'} ${io.paint.dim(printable(message))}`)
  const rest = skipped.length - lines.length
  if (rest > 0) lines.push(`  … and ${formatCount(rest)} more, all of them with svc sync status --json`)
  return [`Skipped: ${pluralize(skipped.length, 'item')}`, ...lines].join('\n')
}
