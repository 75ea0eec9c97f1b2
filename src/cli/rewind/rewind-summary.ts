import type { ChalkInstance } from 'chalk'
import { pluralize } from '../../base/counts.ts'
import { printable } from '../../base/text.ts'
import type { Difference, Failure, TableDifference } from '../../domain/rewind/rewind.ts'

/** Paths shown as text; `--json` lists all. */
const MAX_LISTED = 20

export const isEmpty = ({ restored, replaced, removed, rows }: Difference): boolean =>
  restored.length + replaced.length + removed.length === 0 && [...rows.values()].every((table) => countOf(table) === 0)

const countOf = ({ restored, replaced, removed }: TableDifference): number =>
  restored.length + replaced.length + removed.length

interface Shown {
  path: string
  sha256: string | null
}

const byPath = (a: Shown, b: Shown): number => (a.path < b.path ? -1 : 1)

const shown = ({ path, sha256 }: Shown): string => (sha256 === null ? `${path}/` : path)

function section(title: string, entries: readonly Shown[], paint: ChalkInstance): string[] {
  if (entries.length === 0) return []
  const paths = entries.slice(0, MAX_LISTED).map((entry) => `    ${printable(shown(entry))}`)
  const more = entries.length > MAX_LISTED ? [`    … and ${entries.length - MAX_LISTED} more (--json lists all)`] : []
  return [`  ${paint.bold(title)}`, ...paths, ...more]
}

const filesAmong = (entries: readonly Shown[]): number => entries.filter(({ sha256 }) => sha256 !== null).length

function fileCount(entries: readonly Shown[]): string {
  const files = filesAmong(entries)
  const folders = entries.length - files
  const parts = [
    ...(files > 0 ? [pluralize(files, 'file')] : []),
    ...(folders > 0 ? [pluralize(folders, 'folder')] : []),
  ]
  return parts.join(' and ')
}

function tableLine([table, { restored, replaced, removed }]: [string, TableDifference]): string[] {
  const parts = [
    ...(restored.length > 0 ? [`${pluralize(restored.length, 'row')} restored`] : []),
    ...(replaced.length > 0 ? [`${pluralize(replaced.length, 'row')} changed back`] : []),
    ...(removed.length > 0 ? [`${pluralize(removed.length, 'row')} removed`] : []),
  ]
  return parts.length > 0 ? [`  ${table}: ${parts.join(', ')}`] : []
}

/** What a rewind changes, for people. */
export function differenceText(difference: Difference, paint: ChalkInstance): string {
  const { restored, replaced, removed, removedInside, rows } = difference
  const earlier = replaced.map(({ old }) => old)
  const trashed = [...removed, ...removedInside].sort(byPath)
  return [
    ...section(`${fileCount(restored)} restored`, restored, paint),
    ...section(`${fileCount(earlier)} replaced by the earlier content`, earlier, paint),
    ...section(`${fileCount(trashed)} moved to the trash`, trashed, paint),
    ...[...rows].flatMap(tableLine),
  ].join('\n')
}

/** The same as a document. */
export const documentOf = ({ restored, replaced, removed, removedInside, rows }: Difference) => ({
  files: {
    restored: restored.map(shown),
    replaced: replaced.map(({ old }) => old.path),
    removed: removed.map(shown),
    removed_inside: removedInside.map(shown),
  },
  rows: Object.fromEntries(
    [...rows]
      .filter(([, table]) => countOf(table) > 0)
      .map(([name, table]) => [
        name,
        { restored: table.restored.length, replaced: table.replaced.length, removed: table.removed.length },
      ]),
  ),
})

/** Lines about what stayed as it is; `--json` lists all. */
export const failureLines = (failures: readonly Failure[]): string[] => [
  ...failures.slice(0, MAX_LISTED).map(({ what, why }) => printable(`${what} stays as it is: ${why}`)),
  ...(failures.length > MAX_LISTED
    ? [`… and ${failures.length - MAX_LISTED} more, ${failures.length} in all (--json lists them)`]
    : []),
]

/** From so many files on, a client may refuse to delete them. */
const MANY = 25

/** What people with synchronised folders have to do after a rewind. */
export function clientNote({ removed, removedInside }: Difference): string {
  const files = filesAmong(removed) + filesAmong(removedInside)
  if (files < MANY) return ''
  return `\n\n${files} files went to the trash. A client that stops because it would delete many files continues with svc sync --force-delete.`
}
