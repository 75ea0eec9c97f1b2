import type { Finding, Health } from '../../wiring/doctor.ts'
import { command, flag } from '../command.ts'
import type { ExitCode } from '../exit.ts'

const worst: Record<Health, ExitCode> = { ok: 0, warning: 3, failure: 1 }

export const doctor = command({
  name: 'doctor',
  summary: 'Check the installation and say how to mend it',
  details: 'Ends with 0 when all is well, 3 with warnings, 1 when something is broken.',
  needs: 'nothing',
  args: {},
  flags: { fix: flag.switch('mend what can be mended safely') },
  examples: ['svc doctor', 'svc doctor --fix', 'svc doctor --json'],
  async run({ io, globals, flags }) {
    const [{ openLocal }, { examine }] = await Promise.all([
      import('../../wiring/local.ts'),
      import('../../wiring/doctor.ts'),
    ])
    const local = await openLocal({ dataDir: globals.dataDir })
    let findings: Finding[]
    const fixed: string[] = []
    try {
      findings = await examine(local)
      const fixable = flags.fix ? findings.filter((finding) => finding.fix) : []
      for (const { id, fix } of fixable) {
        await fix!()
        fixed.push(id)
      }
      if (fixed.length > 0) findings = await examine(local)
    } finally {
      await local.close()
    }

    const paint = { ok: io.paint.green, warning: io.paint.yellow, failure: io.paint.red }
    const width = Math.max(...findings.map(({ id }) => id.length))
    const lines = findings.flatMap(({ id, health, found, remedy }) => [
      `${id.padEnd(width)}  ${paint[health](health.padEnd('warning'.length))}  ${found}`,
      ...(remedy ? [`${' '.repeat(width + 'warning'.length + 4)}${io.paint.dim('remedy:')} ${remedy}`] : []),
    ])
    if (fixed.length > 0) lines.push(`Mended: ${fixed.join(', ')}.`)
    const document = findings.map(({ id, health, found, remedy }) => ({ id, health, found, remedy: remedy ?? null }))
    io.say(lines.join('\n'), { data_dir: local.directory.path, fixed, checks: document })
    return findings.reduce<ExitCode>((code, { health }) => (code === 1 ? 1 : worst[health] || code), 0)
  },
})
