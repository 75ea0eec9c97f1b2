import { formatDuration } from '../../base/durations.ts'
import { formatSize } from '../../base/sizes.ts'
import type { UpgradeTrial } from '../../wiring/upgrade.ts'
import { command, flag } from '../command.ts'

export const upgrade = command({
  name: 'upgrade',
  summary: 'Upgrade the database to this version of svc, or show what would change',
  details:
    'svc serve and every other command that opens the database do the same. Before it is changed, the database is copied to ' +
    'svc.db.before-upgrade in the data directory. The change itself happens completely or not at all.\n\n' +
    '--check tries it on a copy, measures how long it takes, and changes nothing; exit code 3 when there is something to do.',
  needs: 'nothing',
  args: {},
  flags: { check: flag.switch('show what would be done and how long it takes; change nothing') },
  examples: ['svc upgrade --check', 'svc upgrade'],
  async run({ io, globals, flags }) {
    const { tryUpgrade } = await import('../../wiring/upgrade.ts')
    const found = await tryUpgrade(globals.dataDir, globals.env)
    const { migrations } = found
    if (flags.check || migrations.length === 0) {
      io.print(textOf(found), { ...found, done: false })
      return migrations.length === 0 ? 0 : 3
    }
    const { openLocal } = await import('../../wiring/local-domain.ts')
    const local = await openLocal({ dataDir: globals.dataDir, env: globals.env, create: false })
    await local.close()
    io.print(`The database is up to date.${wayBack(found)}`, { ...found, done: true })
    return 0
  },
})

const wayBack = ({ copy, data_dir }: UpgradeTrial): string =>
  copy === null
    ? ''
    : ` As it was before, it is in ${copy}.\nTo go back: stop svc, install the earlier version, delete svc.db-wal and svc.db-shm in ${data_dir}, ` +
      'and rename that copy to svc.db. What was written after the upgrade is lost then.'

function textOf(found: UpgradeTrial): string {
  const { migrations, trial } = found
  if (migrations.length === 0) return 'The database is up to date: there is nothing to do.'
  const lines = ['This version changes the database:', ...migrations.map((name) => `  ${name}`)]
  if (trial) {
    const time = trial.took_ms < 1_000 ? 'less than a second' : formatDuration(trial.took_ms)
    lines.push(`Tried on a copy of ${formatSize(trial.bytes)}: it works and takes ${time}.`)
    lines.push(`After svc upgrade the database is up to date.${wayBack(found)}`)
  } else lines.push('Back up the database first: svc backup create.')
  return lines.join('\n')
}
