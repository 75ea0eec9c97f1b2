import { chmod, readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { formatSize } from '../base/sizes.ts'
import type { Local } from './local.ts'

export type Health = 'ok' | 'warning' | 'failure'

/** What one check found. */
export interface Finding {
  /** Stays the same over versions: for scripts. */
  id: string
  health: Health
  found: string
  /** What to do about it. */
  remedy?: string
  /** Mends it, where that is safe. */
  fix?: () => Promise<void>
}

type Check = (local: Local) => Promise<Finding>

const ok = (id: string, found: string): Finding => ({ id, health: 'ok', found })

const LEAST_FREE = 1024 ** 3

const fileModes: Check = async ({ directory }) => {
  const id = 'file-modes'
  if (process.platform === 'win32') return ok(id, 'not applicable here')
  const open: string[] = []
  for (const name of ['.', ...(await readdir(directory.path))]) {
    const path = join(directory.path, name)
    if ((await stat(path)).mode & 0o077) open.push(path)
  }
  if (open.length === 0) return ok(id, 'only the owner can read the data directory')
  return {
    id,
    health: 'failure',
    found: `others can read ${open.join(', ')}`,
    remedy: `chmod go= ${open.join(' ')}`,
    async fix() {
      for (const path of open) await chmod(path, (await stat(path)).mode & 0o700)
    },
  }
}

const diskSpace: Check = async ({ directory }) => {
  const { bavail, bsize } = await statfs(directory.path)
  const free = bavail * bsize
  const found = `${formatSize(free)} free in ${directory.path}`
  if (free >= LEAST_FREE) return ok('disk-space', found)
  return {
    id: 'disk-space',
    health: 'failure',
    found,
    remedy: 'free some space, or move the data directory to a larger disk',
  }
}

const database: Check = async ({ domain }) => {
  const { engine, version, journal_mode, synchronous, foreign_keys } = await domain.instance.describe()
  // The engine refuses to open with anything weaker; this says with what it runs.
  return ok(
    'database',
    `${engine} ${version}, journal_mode=${journal_mode}, synchronous=${synchronous}, foreign_keys=${foreign_keys}`,
  )
}

const store: Check = async ({ domain }) => {
  try {
    await domain.instance.check()
    return ok('storage', 'database and contents answer')
  } catch (error) {
    return {
      id: 'storage',
      health: 'failure',
      found: (error as Error).message,
      remedy: 'check that the disk is there and writable',
    }
  }
}

const administrator: Check = async ({ domain }) =>
  (await domain.instance.isSetUp())
    ? ok('administrator', 'there is an administrator')
    : {
        id: 'administrator',
        health: 'warning',
        found: 'there is none, so nobody can sign in',
        remedy: 'svc user add NAME --role admin',
      }

const LOOPBACK = /^(127\.|localhost$|::1$)/

const publicUrl: Check = async ({ domain }) => {
  const id = 'public-url'
  const { host, public_url: url } = await domain.instance.settings.values()
  if (LOOPBACK.test(host)) return ok(id, `listens on ${host} only`)
  if (url.startsWith('https://')) return ok(id, `reached at ${url}`)
  const found = url ? `${url} is not encrypted` : `listens on ${host} without a public URL`
  return {
    id,
    health: 'warning',
    found,
    remedy: 'put a proxy with TLS in front and run: svc config set public_url https://…',
  }
}

const limits: Check = async ({ domain }) =>
  (await domain.instance.settings.values())['limits.enabled']
    ? ok('rate-limits', 'rate limits are on')
    : { id: 'rate-limits', health: 'warning', found: 'rate limits are off', remedy: 'svc config set limits.enabled on' }

// Below this the clock is certainly wrong: the program itself is younger.
const EARLIEST = Date.UTC(2026, 0, 1)

const clock: Check = () => {
  const now = Date.now()
  return Promise.resolve(
    now > EARLIEST
      ? ok('clock', new Date(now).toISOString())
      : {
          id: 'clock',
          health: 'failure' as const,
          found: `it is not ${new Date(now).toISOString()}`,
          remedy: 'set the clock, and keep it right with an NTP client',
        },
  )
}

const checks: readonly Check[] = [fileModes, diskSpace, database, store, administrator, publicUrl, limits, clock]

/** Every check of an installation, in the order in which they are shown. */
export async function examine(local: Local): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const check of checks) findings.push(await check(local))
  return findings
}
