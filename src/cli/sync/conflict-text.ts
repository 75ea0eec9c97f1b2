import { formatDuration } from '../../base/durations.ts'
import { formatSize } from '../../base/sizes.ts'
import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import type { RejectedChange } from '../../client/replica/replica-records.ts'
import type { Replica } from '../../client/replica/replica.ts'
import type { FileConflict, Side } from '../../client/sync/index.ts'
import type { Io } from '../io.ts'
import { formatTime } from '../time-format.ts'

export type OpenConflict = FileConflict | RejectedChange

/** Longest value shown, characters. */
const LONGEST = 60

const isFile = (open: OpenConflict): open is FileConflict => 'root' in open

export const titleOf = (open: OpenConflict): string =>
  isFile(open)
    ? `${open.id}  ${printable((open.theirs ?? open.mine).path.slice(1))}`
    : `r${open.id}  ${open.table} ${open.row}`

/** A conflict as `--json` prints it. */
export function documentOf(open: OpenConflict, copy: Replica | undefined): object {
  if (isFile(open)) {
    const { id, root, at, mine, theirs } = open
    return { id, kind: 'file', root, at: iso(at), mine, theirs }
  }
  const { id, kind, table, verb, row, mine, before, theirs, code, message, at } = open
  const now = copy ? (copy.row(table, row) ?? null) : theirs
  return {
    id: `r${id}`,
    kind: kind === 'refused' ? 'refused' : 'row',
    table,
    row,
    operation: verb,
    at: iso(at),
    code,
    message,
    mine,
    before,
    theirs: now,
  }
}

export function conflictList(io: Io, open: readonly OpenConflict[], now: number): string {
  if (open.length === 0) return 'There is nothing to resolve.'
  const ago = (at: number): string => io.paint.dim(`${formatDuration(now - at)} ago`)
  const blocks = open.map((each) => {
    const head = io.paint.bold(titleOf(each))
    return isFile(each)
      ? [`${head}  changed on both sides, ${ago(each.at)}`, ...fileLines(each)]
      : [`${head}  ${causeOf(each)}, ${ago(each.at)}`, ...rowLines(each)]
  })
  const how = 'To resolve one: svc sync conflicts keep ID --mine|--theirs|--both'
  return [...blocks.map((lines) => lines.join('\n')), how].join('\n\n')
}

const causeOf = ({ kind, message }: RejectedChange): string => {
  const text = printable(message).replace(/\.$/, '')
  return kind === 'refused' ? `refused: ${text}` : text.replace(/^It was/, 'was')
}

const sideLine = (name: string, side: Side | null): string => {
  if (!side) return `  ${name.padEnd(8)}deleted`
  const what =
    side.kind === 'file'
      ? [formatSize(side.size ?? 0), ...(side.mtime === null ? [] : [formatTime(side.mtime * 1_000)])].join(', ')
      : side.kind === 'dir'
        ? 'folder'
        : 'neither file nor folder'
  return `  ${name.padEnd(8)}${printable(side.path.slice(1))} (${what})`
}

const fileLines = ({ root, mine, theirs }: FileConflict): string[] => [
  sideLine('yours', mine),
  sideLine('theirs', theirs),
  `  ${'in'.padEnd(8)}${printable(root)}`,
]

function rowLines({ verb, mine, theirs }: RejectedChange): string[] {
  if (verb === 'DELETE')
    return ['  yours   deleted', ...(theirs ? [`  theirs  ${shown(theirs['title'] ?? theirs['name'])}`] : [])]
  return Object.entries(mine).flatMap(([column, value]) => [
    `  ${printable(column)}`,
    `    yours   ${shown(value)}`,
    ...(theirs ? [`    theirs  ${shown(theirs[column])}`] : []),
  ])
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  const line = Array.from(printable(text.replace(/\s+/g, ' ')))
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1).join('')}…` : line.join('')
}
