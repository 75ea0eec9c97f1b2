import { Exit, type ExitCode } from '../exit.ts'
import type { ChangeResult } from './row-access.ts'

/** Describes why an operation was refused. */
export function refusalOf({ status, current, error, code }: ChangeResult): string {
  if (status === 'conflict') {
    const version = (current as Record<string, unknown> | undefined)?.['version']
    return `it was changed meanwhile${version === undefined ? '' : ` and is at version ${String(version)} now`}.`
  }
  return error ?? code ?? 'the server refused it.'
}

const exits: Record<string, ExitCode> = {
  gone: 5,
  not_found: 5,
  conflict: 6,
  exists: 6,
  op_id_reuse: 6,
  forbidden: 4,
  bad_value: 2,
  unknown_column: 2,
  unknown_table: 2,
}

/** Ends a command with an error if its only operation was refused. */
export function assertApplied(subject: string, outcome: ChangeResult): void {
  if (outcome.ok) return
  const code = outcome.code ?? outcome.status
  throw new Exit(exits[code] ?? 1, `${subject} was not written: ${refusalOf(outcome)}`, code)
}
