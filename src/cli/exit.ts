import { isFault, type ErrorCode } from '../contract/errors.ts'

/** Exit codes of every command; `svc help exit-codes` prints this table. */
export const exitCodes = {
  0: 'done',
  1: 'failed',
  2: 'wrong usage',
  3: 'done, but something needs attention (conflict copies created, items skipped or failed)',
  4: 'not signed in or not allowed',
  5: 'not found',
  6: 'conflict (already exists, changed meanwhile, or another run holds the lock)',
  7: 'server not reachable or unavailable (network, maintenance, busy)',
  8: 'refused for safety (mass deletion, root missing or unknown, other account or epoch)',
  70: 'ended before its work was done, which is a bug in svc',
  130: 'interrupted',
} as const

export type ExitCode = keyof typeof exitCodes

/** Ends a command with a sentence for the user and an exit code. */
export class Exit extends Error {
  override name = 'Exit'
  readonly code: ExitCode
  /** The error code in `--json`. */
  readonly reason: string

  constructor(code: ExitCode, message: string, reason = 'failed') {
    super(message)
    this.code = code
    this.reason = reason
  }
}

/** A wrong invocation: exit code 2. The message is one sentence without the usage line. */
export const usage = (message: string): Exit => new Exit(2, message, 'usage')

const byFault: Partial<Record<ErrorCode, ExitCode>> = {
  bad_request: 2,
  bad_path: 2,
  unauthorized: 4,
  invalid_credentials: 4,
  invalid_code: 4,
  '2fa_required': 4,
  forbidden: 4,
  cross_domain: 4,
  csrf: 4,
  account_locked: 4,
  not_found: 5,
  exists: 6,
  not_empty: 6,
  conflict: 6,
  precondition_failed: 6,
  epoch_mismatch: 8,
  maintenance: 7,
  setup_required: 7,
  busy: 7,
  assistant_unavailable: 7,
  rate_limited: 7,
}

/** The exit code for an error. Errors may have an `exitCode` of their own. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Exit) return error.code
  if (isFault(error)) return byFault[error.code] ?? 1
  const own = (error as { exitCode?: unknown } | null)?.exitCode
  return typeof own === 'number' && own in exitCodes ? (own as ExitCode) : 1
}
