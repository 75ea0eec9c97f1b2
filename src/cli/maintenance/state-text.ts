import { iso } from '../../base/clock.ts'
import { printable } from '../../base/text.ts'
import type { Maintenance } from '../../domain/instance/instance.ts'
import { formatTime } from '../time-format.ts'

/** Maintenance as `--json` prints it. */
export const documentOf = (maintenance: Maintenance | undefined) => ({
  maintenance: maintenance !== undefined,
  read_only: maintenance?.read_only ?? false,
  message: maintenance?.message ?? null,
  until: maintenance && maintenance.until !== null ? iso(maintenance.until) : null,
})

export function stateText({ message, until, read_only }: Maintenance): string {
  const state = read_only
    ? 'Read-only: all users can read, only administrators can change anything'
    : 'Maintenance is on: only administrators are let in'
  const end = until === null ? ', until svc maintenance off' : `, until ${formatTime(until)}`
  return `${state}${end}.${message ? `\nMessage: ${printable(message)}` : ''}`
}
