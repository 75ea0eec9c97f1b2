import { formatCount, pluralize } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import { printable } from '../../base/text.ts'
import type { IntegrityProblem, StorageReport } from '../../domain/instance/instance.ts'
import { command, flag } from '../command.ts'
import type { ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'

/** Problems of one kind shown as text; `--json` lists all. */
const MAX_LISTED = 10

export const check = command({
  name: 'storage check',
  summary: 'Check everything that is stored, every byte of it',
  details:
    'Checks the database, the file tree, quotas and feeds, and reads the bytes of every file, also while the server runs. ' +
    '--repair repairs what it can without losing anything (counts and feeds) and leaves the rest as it is.\n' +
    'Exit code 0 when everything is intact, 3 when problems were or can be repaired, 1 when something is damaged that this ' +
    'cannot repair: restore it from a backup.',
  needs: 'domain',
  args: {},
  flags: {
    quick: flag.switch('only check that the bytes of files exist, without reading them'),
    repair: flag.switch('repair what can be repaired safely'),
  },
  examples: ['svc storage check', 'svc storage check --quick', 'svc storage check --repair --json'],
  async run({ io, domain: { instance }, flags }) {
    const { makeProgress } = await import('../progress.ts')
    let progress: ReturnType<typeof makeProgress> | undefined
    let before = 0
    const report = await instance.storage
      .check({
        ...flags,
        progress(bytes, total) {
          progress ??= makeProgress({ label: flags.quick ? 'Looking' : 'Reading', total })
          progress.add(bytes - before)
          before = bytes
        },
      })
      .finally(() => progress?.end())
    show(io, report, flags)
    return exitOf(report.problems)
  },
})

const exitOf = (problems: readonly IntegrityProblem[]): ExitCode => {
  if (problems.length === 0) return 0
  return problems.every(({ repairable, repaired }) => repairable || repaired) ? 3 : 1
}

interface CheckFlags {
  quick: boolean
  repair: boolean
}

function show(io: Io, { problems, truncated, checked, orphans }: StorageReport, { quick, repair }: CheckFlags): void {
  const bytes = quick ? 'not read' : 'all read'
  const lines = [
    ...kindsOf(problems).flatMap((kind) => linesOf(io, kind, truncated.includes(kind[0]!.id))),
    `Checked ${pluralize(checked.nodes, 'file and folder row')}, ${pluralize(checked.changes, 'change')} and ${pluralize(checked.contents, 'content')} (${formatSize(checked.bytes)}, ${bytes}).`,
    ...(orphans.blobs > 0
      ? [
          `${pluralize(orphans.blobs, 'blob')} (${formatSize(orphans.bytes)}) that no file refers to: svc storage gc removes them.`,
        ]
      : []),
    summaryOf(io, problems, repair),
  ]
  io.print(lines.join('\n'), {
    sound: problems.length === 0,
    bytes_read: !quick,
    looked_at: checked,
    findings: problems.map(({ used_by, ...problem }) => ({ ...problem, ...(used_by && { used_by }) })),
    truncated,
    unreferenced_blobs: orphans.blobs,
    unreferenced_bytes: orphans.bytes,
  })
}

const kindsOf = (problems: readonly IntegrityProblem[]): IntegrityProblem[][] =>
  [...new Set(problems.map(({ id }) => id))].map((id) => problems.filter((problem) => problem.id === id))

function linesOf(io: Io, problems: IntegrityProblem[], truncated: boolean): string[] {
  const [{ id, repairable }] = problems as [IntegrityProblem]
  const repaired = problems.every((problem) => problem.repaired)
  const state = repaired
    ? io.paint.green('repaired')
    : repairable
      ? io.paint.yellow('repairable')
      : io.paint.red('broken')
  const shown = problems
    .slice(0, MAX_LISTED)
    .flatMap(({ object, found, used_by = [] }) => [
      `  ${printable(object)}: ${printable(found)}`,
      ...used_by.map((holder) => `    ${printable(holder)}`),
    ])
  const rest = problems.length - MAX_LISTED
  if (rest > 0) shown.push(`  and ${formatCount(rest)}${truncated ? ' or more' : ''} others: --json lists them`)
  return [`${io.paint.bold(id)}  ${state}`, ...shown, '']
}

function summaryOf(io: Io, problems: readonly IntegrityProblem[], repair: boolean): string {
  if (problems.length === 0) return io.paint.green('Everything is intact.')
  const broken = problems.filter(({ repairable }) => !repairable).length
  const open = problems.filter(({ repairable, repaired }) => repairable && !repaired).length
  const repaired = problems.filter((problem) => problem.repaired).length
  const parts = [
    ...(repaired > 0 ? [`${repaired} repaired`] : []),
    ...(open > 0 ? [repair ? `${open} could not be repaired` : `${open} can be repaired with --repair`] : []),
    ...(broken > 0 ? [io.paint.red(`${broken} damaged: restore what they name from a backup`)] : []),
  ]
  return `Found: ${parts.join(', ')}.`
}
