import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { randomHex } from '../../base/random.ts'
import type { JobContext, Manifest } from '../../domain/backups/backups.ts'
import { makeLockedFolder } from '../../host/temporary-folder.ts'
import { censusOf, someContents } from '../../storage/backups/census.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { transientTables } from '../../storage/instance/restored.ts'
import { openSqlite } from '../../storage/engine/sqlite.ts'
import { restore } from './restore.ts'
import { serve, type RunningServer } from '../server.ts'

export interface Drill {
  manifest: Manifest
  /** Differences found; empty if the backup is proven. */
  problems: string[]
  rows: number
  /** Contents that were read through the service and compared with their hash. */
  contents: number
  took_ms: number
}

/** The number of contents to compare; all of them were already verified during the restore. */
const SAMPLE = 200

/** Tables that differ in every restored database: those that a restore or this version writes. */
const DIFFERENT = new Set<string>([...transientTables, 'instance', 'settings', 'audit', 'device_tokens', 'apps'])

async function contentProblems(
  { local }: RunningServer,
  manifest: Manifest,
  dataDir: string,
): Promise<{ count: number; problems: string[] }> {
  const database = openSqlite(join(dataDir, 'svc.db'))
  const some = await someContents(database.read, randomHex(32), SAMPLE).finally(() => void database.close())
  const sample = some.filter(({ sha256 }) => !manifest.missing.includes(sha256))
  const problems: string[] = []
  for (const { sha256, size } of sample) {
    const hash = createHash('sha256')
    let length = 0
    const content = await local.domain.files.read(sha256)
    for await (const part of Buffer.isBuffer(content) ? [content] : content) {
      hash.update(part as Uint8Array)
      length += (part as Uint8Array).length
    }
    if (length !== size || hash.digest('hex') !== sha256) problems.push(`the content ${sha256} is not what it was`)
  }
  return { count: sample.length, problems }
}

async function rowProblems(manifest: Manifest, dataDir: string): Promise<string[]> {
  const database = openSqlite(join(dataDir, 'svc.db'))
  const census = await censusOf(database.read).finally(() => void database.close())
  const tables = Object.keys(manifest.rows).filter((table) => !DIFFERENT.has(table))
  const differing = tables.filter((table) => census.rows[table] !== manifest.rows[table])
  const problems = differing.map(
    (table) => `${table}: ${census.rows[table] ?? 0} rows instead of ${manifest.rows[table]}`,
  )
  const { accounts, files, file_bytes } = manifest.totals
  if (census.accounts !== accounts) problems.push(`${census.accounts} accounts instead of ${accounts}`)
  if (census.files !== files || census.file_bytes !== file_bytes)
    problems.push(`${census.files} files with ${census.file_bytes} bytes instead of ${files} with ${file_bytes}`)
  return problems
}

async function readyProblems({ url }: RunningServer): Promise<string[]> {
  const { status } = await fetch(`${url}/readyz`)
  return status === 200 ? [] : [`the restored server is not ready: /readyz answers ${status}`]
}

/** Restores to a temporary folder, serves it on a local port and compares everything. Throws what prevents it. */
export async function drill(source: BackupSource, id: string, temp?: string, job: JobContext = {}): Promise<Drill> {
  const start = performance.now()
  const place = await makeLockedFolder('svc-drill-', temp)
  const dataDir = join(place.path, 'data')
  try {
    const { manifest } = await restore(source, id, { target: dataDir, keepDevices: false }, job)
    const flags = { host: '127.0.0.1', port: '0' }
    const server = await serve({ dataDir, env: {}, flags, log: false })
    try {
      const contents = await contentProblems(server, manifest, dataDir)
      const rows = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0)
      const problems = [
        ...(await readyProblems(server)),
        ...(await rowProblems(manifest, dataDir)),
        ...contents.problems,
      ]
      const took_ms = Math.round(performance.now() - start)
      return { manifest, problems, rows, contents: contents.count, took_ms }
    } finally {
      await server.close()
    }
  } finally {
    await place.remove()
  }
}
