import { damageOf } from './damage.ts'
import { backupChecks } from './checks/backups.ts'
import { configurationChecks } from './checks/configuration.ts'
import { fine, failure, type Check, type Finding } from './checks/finding.ts'
import { machineChecks } from './checks/machine.ts'
import { sandboxCheck } from './checks/sandbox.ts'
import { serviceChecks } from './checks/service.ts'
import type { Local } from './local.ts'

export type { Finding, Health } from './checks/finding.ts'

/** Every check of an installation, in the order in which they are shown. */
export const checks: readonly Check[] = [
  ...machineChecks,
  ...serviceChecks,
  ...configurationChecks,
  ...backupChecks,
  sandboxCheck,
]

/** What is quick enough to be asked every few seconds, and tells nothing to strangers but its outcome. */
const QUICK = new Set(['storage', 'migrations', 'disk-space', 'clock'])

/** Without these no request can be answered. */
const VITAL = new Set(['storage', 'migrations'])

async function look(local: Local, chosen: readonly Check[]): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of chosen) findings.push({ id: check.id, ...(await check.look(local)) })
  return findings
}

/** A check that cannot do its work is a finding as well, and the others go on. */
const careful = (check: Check): Check => ({
  ...check,
  look: (local) => check.look(local).catch((error: unknown) => failed(error as Error, 'then run svc doctor again')),
})

const failed = (error: Error, next: string) =>
  failure(error.message, damageOf(error)?.remedy ?? `fix that first: ${next}`)

/** What every check finds. */
export const examine = (local: Local): Promise<Finding[]> => look(local, checks.map(careful))

/** Whether the service can do its work, with the outcome of each quick check by its id. */
export async function readiness(local: Local): Promise<{ ready: boolean; checks: Record<string, Finding['health']> }> {
  const findings = await look(
    local,
    checks.filter(({ id }) => QUICK.has(id)),
  )
  return {
    ready: !findings.some(({ id, health }) => VITAL.has(id) && health === 'failure'),
    checks: Object.fromEntries(findings.map(({ id, health }) => [id, health])),
  }
}

/** The check that comes before all others: whether the data directory can be opened at all. */
export const opened = (path: string): Finding => ({ id: 'data-directory', ...fine(path) })

/** The same when it could not be opened. */
export const notOpened = (error: Error): Finding => ({
  id: 'data-directory',
  ...failure(error.message, damageOf(error)?.remedy ?? 'fix that first: nothing else can be checked before'),
})
