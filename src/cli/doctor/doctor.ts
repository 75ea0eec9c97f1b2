import type { Finding, Health } from '../../wiring/doctor/doctor.ts'
import { command, flag } from '../command.ts'
import { quoted } from '../../base/shell-words.ts'
import { exitCodeOf, type ExitCode } from '../exit.ts'
import type { Io } from '../io.ts'

const worst: Record<Health, ExitCode> = { ok: 0, warning: 3, failure: 1 }

/** Opens the data directory and checks everything; an error while opening is itself a finding. */
async function examineDirectory(dataDir: string | undefined, repair: boolean) {
  const [
    { openLocal },
    { dataDirectoryPath },
    { assertInstalled },
    { environment },
    { commandChecks, examine, examineClosed, opened },
  ] = await Promise.all([
    import('../../wiring/local-domain.ts'),
    import('../../wiring/installation/data-directory.ts'),
    import('../../wiring/installation/installation-check.ts'),
    import('../../wiring/config/environment.ts'),
    import('../../wiring/doctor/doctor.ts'),
  ])
  const path = dataDirectoryPath(dataDir, environment)
  const local = await assertInstalled(path, environment)
    .then(() => openLocal({ dataDir, create: false }))
    .catch((error: unknown) => error as Error)
  if (local instanceof Error) {
    const findings = await examineClosed(path, environment, local)
    return { path, fixed: [], failed: [], findings, refused: exitCodeOf(local) === 8 }
  }
  try {
    const findings = await examine(local, commandChecks)
    const fixable = repair ? findings.filter(({ fix }) => fix) : []
    const fixed: string[] = []
    const failed: string[] = []
    for (const { id, fix } of fixable)
      await fix!().then(
        () => fixed.push(id),
        (error: unknown) => failed.push(`${id} could not be fixed: ${(error as Error).message}`),
      )
    const after = fixable.length > 0 ? await examine(local, commandChecks) : findings
    return { path, fixed, failed, findings: [opened(path), ...after], refused: false }
  } finally {
    await local.close()
  }
}

function linesOf({ paint }: Io, findings: readonly Finding[]): string[] {
  const colour = { ok: paint.green, warning: paint.yellow, failure: paint.red }
  const [idWidth, healthWidth] = [Math.max(...findings.map(({ id }) => id.length)), 'warning'.length]
  return findings.flatMap(({ id, health, found, remedy }) => [
    `${id.padEnd(idWidth)}  ${colour[health](health.padEnd(healthWidth))}  ${found}`,
    ...(remedy ? [`${' '.repeat(idWidth + healthWidth + 4)}${paint.dim('remedy:')} ${remedy}`] : []),
  ])
}

async function list(io: Io): Promise<void> {
  const { commandChecks } = await import('../../wiring/doctor/doctor.ts')
  io.table(
    commandChecks.map(({ id, summary }) => ({ id, summary })),
    [
      { title: 'CHECK', value: ({ id }) => id },
      { title: 'SEES THAT', value: ({ summary }) => summary },
    ],
    'There are no checks.',
  )
}

export const doctor = command({
  name: 'doctor',
  summary: 'Check the installation and say how to fix problems',
  details:
    'Exit code 0 when there are no problems, 3 with warnings, 1 when something is broken, 8 when the database is lost.',
  needs: 'nothing',
  args: {},
  flags: {
    fix: flag.switch('fix what can be fixed safely'),
    list: flag.switch('only list the checks'),
  },
  examples: ['svc doctor', 'svc doctor --fix', 'svc doctor --list', 'svc doctor --json'],
  async run({ io, globals, flags }) {
    if (flags.list) return list(io)
    const { path, fixed, failed, findings, refused } = await examineDirectory(globals.dataDir, flags.fix)
    for (const sentence of failed) io.warn(sentence)
    const lines = linesOf(io, findings)
    if (fixed.length > 0) lines.push(`Fixed: ${fixed.join(', ')}.`)
    if (globals.dataDir !== undefined && findings.some(({ remedy }) => remedy?.includes('svc ')))
      lines.push(`Give these commands the same data directory: --data-dir ${quoted(globals.dataDir)}`)
    const document = findings.map(({ id, health, found, remedy }) => ({ id, health, found, remedy: remedy ?? null }))
    io.print(lines.join('\n'), { data_dir: path, fixed, checks: document })
    if (refused) return 8
    return findings.reduce<ExitCode>((code, { health }) => (code === 1 ? 1 : worst[health] || code), 0)
  },
})
