import { stat } from 'node:fs/promises'
import { partsOf } from '../installation/data-directory.ts'
import { readGiven } from '../config/given-config.ts'
import { damageOf } from '../installation/database-damage.ts'
import { backupChecks } from './backups-check.ts'
import { configurationChecks } from './configuration-check.ts'
import { clockCheck } from './clock-check.ts'
import { fine, failure, type Check, type DirectoryCheck, type Finding } from './finding.ts'
import { machineChecks } from './machine-check.ts'
import { sandboxCheck } from './sandbox-check.ts'
import { serviceChecks } from './service-check.ts'
import { thoroughChecks } from './thorough-check.ts'
import type { Local } from '../local-domain.ts'

export type { Finding, Health } from './finding.ts'

/** Every check that a server makes of itself, in the order in which they are shown. */
export const checks: readonly Check[] = [
  ...machineChecks,
  clockCheck,
  ...serviceChecks,
  ...configurationChecks,
  ...backupChecks,
  sandboxCheck,
]

/** Those of `svc doctor`, which may take longer. */
export const commandChecks: readonly Check[] = [...checks, ...thoroughChecks]

/** Checks quick enough for every few seconds; they reveal only their result. */
const QUICK = new Set(['database', 'storage', 'migrations', 'disk-space', 'clock'])

/** Without these no request can be answered. */
const ESSENTIAL = new Set(['database', 'storage', 'migrations'])

async function runChecks<On>(on: On, chosen: readonly Check<On>[]): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of chosen) findings.push({ id: check.id, ...(await check.runChecks(on)) })
  return findings
}

/** A check that throws is a finding too, and the others continue. */
const catchingErrors = <On>(check: Check<On>): Check<On> => ({
  ...check,
  runChecks: (on) => check.runChecks(on).catch((error: unknown) => failed(error as Error, 'then run svc doctor again')),
})

const failed = (error: Error, next: string) =>
  failure(error.message, damageOf(error)?.remedy ?? `fix that first: ${next}`)

/** Findings of the checks, all of them by default. */
export const examine = (local: Local, chosen = checks): Promise<Finding[]> =>
  runChecks(local, chosen.map(catchingErrors))

/** Why a data directory could not be opened, and what the checks find that need no database. */
export async function examineClosed(path: string, env: NodeJS.ProcessEnv, error: Error): Promise<Finding[]> {
  const directory = partsOf(path)
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return [notOpened(error)]
  const config = await readGiven(directory, env).catch(() => ({ values: {}, sources: {} }))
  const chosen: DirectoryCheck[] = machineChecks.map(catchingErrors)
  return [notOpened(error), ...(await runChecks({ directory, config }, chosen))]
}

/** Whether the service can work, with the result of each quick check by its id. */
export async function readiness(local: Local): Promise<{ ready: boolean; checks: Record<string, Finding['health']> }> {
  const findings = await runChecks(local, checks.filter(({ id }) => QUICK.has(id)).map(catchingErrors))
  return {
    ready: !findings.some(({ id, health }) => ESSENTIAL.has(id) && health === 'failure'),
    checks: Object.fromEntries(findings.map(({ id, health }) => [id, health])),
  }
}

/** The first check: whether the data directory can be opened. */
export const opened = (path: string): Finding => ({ id: 'data-directory', ...fine(path) })

/** The same, if it could not be opened. */
const notOpened = (error: Error): Finding => ({
  id: 'data-directory',
  ...failure(error.message, damageOf(error)?.remedy ?? 'fix that first: other checks need it'),
})
