import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import type { StoredEntry } from '../../domain/instance/instance.ts'

// How an entry of the log is shown: one document for machines, one line for people.

type Detail = Record<string, unknown> | null

const detailOf = ({ detail }: StoredEntry): Detail => (detail === null ? null : (JSON.parse(detail) as Detail))

/** What `--json` says about an entry. */
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

/** The moment of an entry to the second, in the zone of this machine. */
export function secondOf({ at }: StoredEntry): string {
  const time = new Date(at)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-')
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`
}

/** The details of an entry in a few words, `name=value`. */
export function detailText(entry: StoredEntry): string {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  return Object.entries(detailOf(entry) ?? {})
    .map(([name, value]) => `${name}=${text(value)}`)
    .join(' ')
}

/** An entry as a line of a log that goes on. */
export function lineOf(entry: StoredEntry): string {
  const who = entry.target === null || entry.target === entry.actor ? entry.actor : `${entry.actor} → ${entry.target}`
  const parts = [secondOf(entry), entry.kind.padEnd(20), who.padEnd(24), entry.ip ?? '-', detailText(entry)]
  return parts.map(printable).join('  ').trimEnd()
}
