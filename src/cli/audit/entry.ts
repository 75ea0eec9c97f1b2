import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import type { StoredEntry } from '../../domain/instance/instance.ts'
import { formatTime } from '../time-format.ts'

type Detail = Record<string, unknown> | null

const detailOf = ({ detail }: StoredEntry): Detail => (detail === null ? null : (JSON.parse(detail) as Detail))

/** An audit entry as `--json` prints it. */
export const documentOf = (entry: StoredEntry) => ({
  id: entry.id,
  at: iso(entry.at),
  kind: entry.kind,
  actor: entry.actor,
  target: entry.target,
  ip: entry.ip,
  user_agent: entry.user_agent,
  detail: detailOf(entry),
})

export function detailText(entry: StoredEntry): string {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.entries(detailOf(entry) ?? {})
    .map(([name, value]) => `${name}=${text(value)}`)
    .join(' ')
}

export function lineOf(entry: StoredEntry): string {
  const who = entry.target === null || entry.target === entry.actor ? entry.actor : `${entry.actor} → ${entry.target}`
  const parts = [formatTime(entry.at, true), entry.kind.padEnd(20), who.padEnd(24), entry.ip ?? '-', detailText(entry)]
  return parts.map(printable).join('  ').trimEnd()
}
