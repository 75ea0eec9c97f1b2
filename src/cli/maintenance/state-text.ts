import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import type { Maintenance } from '../../domain/instance/instance.ts'
import { formatTime } from '../times.ts'

// How the commands of `maintenance` show its state: one document for machines, the same words for people.

/** What `--json` says about it. */
export const documentOf = (maintenance: Maintenance | undefined) => ({
  maintenance: maintenance !== undefined,
  read_only: maintenance?.read_only ?? false,
  message: maintenance?.message ?? null,
  until: maintenance && maintenance.until !== null ? iso(maintenance.until) : null,
})

/** What holds now and until when, in one sentence. */
export function stateText({ message, until, read_only }: Maintenance): string {
  const state = read_only
    ? 'Read-only: everybody may read, only administrators may change anything'
    : 'Maintenance is on: only administrators are let in'
  const end = until === null ? ', until svc maintenance off' : `, until ${formatTime(until)}`
  return `${state}${end}.${message ? `\nMessage: ${printable(message)}` : ''}`
}
