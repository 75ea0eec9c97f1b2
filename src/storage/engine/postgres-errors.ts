import { Busy, DatabaseMoved, errorCode, DiskFull } from '../../base/errors.ts'
import { postgresAddress } from './postgres-address.ts'

// Errors of Postgres by SQLSTATE (PostgreSQL documentation, appendix A), and of its connections.

const DISK_FULL = '53100'
const LOCK_NOT_AVAILABLE = '55P03'
const WRONG_PASSWORD = new Set(['28P01', '28000'])
const NO_SUCH_DATABASE = '3D000'
const TOO_MANY_CONNECTIONS = '53300'

/** Transient SQLSTATEs: lost or too few connections, shutdown, serialization failure, read-only. */
const PASSING = /^(08...|53[23]00|57P0[1-5]|40001|40P01|25P03|25006)$/

const UNREACHED = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
])

/** Messages of `pg` without a code for lost or failed connections. */
const LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed)/

/** Serialization failure and deadlock. */
const CONFLICT = new Set(['40001', '40P01'])

/** Of a prepared statement of a table that got a column meanwhile: "cached plan must not change result type". */
const FEATURE_NOT_SUPPORTED = '0A000'

/** Whether an error, converted or not, says that the statements of its connection must be prepared anew. */
export function isStale(error: unknown): boolean {
  const own = error instanceof Busy ? error.cause : error
  return own instanceof Error && errorCode(own) === FEATURE_NOT_SUPPORTED && own.message.startsWith('cached plan')
}

/** Whether a converted error came from a concurrent transaction, and may not happen again. */
export const isConflict = (error: unknown): boolean =>
  isStale(error) || (error instanceof Busy && error.cause instanceof Error && CONFLICT.has(errorCode(error.cause)))

/** Whether a converted error came from a lock that somebody else held for too long. */
export const isHeld = (error: unknown): boolean =>
  error instanceof Busy && error.cause instanceof Error && errorCode(error.cause) === LOCK_NOT_AVAILABLE

const isUnreached = (error: Error): boolean => UNREACHED.has(errorCode(error)) || LOST.test(error.message)

export function fromPostgresError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Busy || error instanceof DiskFull) return error
  const code = errorCode(error)
  if (code === DISK_FULL) return new DiskFull('The disk of the database is full.', { cause: error })
  if (code === LOCK_NOT_AVAILABLE) return new Busy('Another process holds the database.', { cause: error })
  if (PASSING.test(code) || isStale(error) || isUnreached(error))
    return new Busy(`The database does not answer: ${error.message}. Try again in a moment.`, { cause: error })
  return error
}

/** The URL without the password. */
function shown(url: string): string {
  const { hosts, path } = postgresAddress(url)
  return `database ${path.slice(1)} at ${hosts || 'this machine'}`
}

/** A database cannot be opened; the message says what to do. */
class CannotOpen extends Error {
  override name = 'CannotOpen'
  readonly exitCode: number
  constructor(text: string, exitCode: number, cause: Error) {
    super(text, { cause })
    this.exitCode = exitCode
  }
}

/** Why a database could not be opened, and what to do. */
export function fromOpeningError(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseMoved) return error
  const code = errorCode(error)
  // If a host has several addresses, the AggregateError has no message of its own.
  const message = error.message || (error as { errors?: Error[] }).errors?.map((one) => one.message).join(', ') || code
  if (code === NO_SUCH_DATABASE) return new CannotOpen(`There is no ${shown(url)}: create it (createdb).`, 5, error)
  if (WRONG_PASSWORD.has(code))
    return new CannotOpen(`The ${shown(url)} refuses the user or the password: ${message}.`, 4, error)
  if (code === TOO_MANY_CONNECTIONS)
    return new CannotOpen(
      `The ${shown(url)} has no connection left (${message}): raise max_connections, or end what uses them. A server of svc opens up to 18.`,
      7,
      error,
    )
  if (error instanceof Busy || isUnreached(error) || PASSING.test(code))
    return new CannotOpen(
      `The ${shown(url)} does not answer: ${message.replace(/\.$/, '')}. Start it, or correct its address.`,
      7,
      error,
    )
  return new CannotOpen(`The ${shown(url)} cannot be used: ${message}`, 1, error)
}
