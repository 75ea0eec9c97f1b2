import { isSound, printable } from '../../base/text.ts'
import type { Clock } from '../../base/clock.ts'
import { badRequest } from '../../contract/errors.ts'
import { deleteAllPendingLogins } from '../../storage/accounts/pending-logins.ts'
import { deleteAllSessions } from '../../storage/accounts/sessions.ts'
import type { Audit, AuditActor } from './audit.ts'
import type { Maintenance, Settings } from './settings.ts'

const MESSAGE_LENGTH = 500

/** The last moment a date can name, epoch ms (ECMAScript, time values). */
const LATEST = 8.64e15

export interface MaintenanceSwitch {
  /**
   * Keeps everybody but administrators out from now on, until `end` or the moment `until` (epoch ms), or with `read_only`
   * lets them in to read. Where it closes the service, every session and every waiting login ends in the same transaction.
   * Under maintenance already: changes message, end and kind. Throws `bad_request`.
   */
  begin(maintenance: Omit<Maintenance, 'read_only'> & { read_only?: boolean }, by?: AuditActor): Promise<Begun>
  /** Lets everybody in again; false, and nothing happens, when it was over already. */
  end(by?: AuditActor): Promise<boolean>
}

interface Begun {
  /** Sessions that ended with it. */
  sessions: number
  /** What was in force before. */
  before: Maintenance | undefined
}

interface Parts {
  clock: Clock
  settings: Settings
  audit: Audit
}

export const makeMaintenance = ({ clock, settings, audit }: Parts): MaintenanceSwitch => ({
  async begin({ message, until, read_only = false }, by) {
    if (!isSound(message) || printable(message) !== message || [...message].length > MESSAGE_LENGTH)
      throw badRequest('message', `has at most ${MESSAGE_LENGTH} characters, on one line`)
    const isFuture = until === null || (until > clock.now() && until <= LATEST)
    if (!isFuture) throw badRequest('until', 'must lie in the future')
    return settings.declare({ message, until, read_only }, async (tx, before) => {
      // Who is signed in to a closed service is an administrator at work: another message is no reason to end that.
      const closes = !read_only && (before === undefined || before.read_only)
      const sessions = closes ? await deleteAllSessions(tx) : 0
      if (closes) await deleteAllPendingLogins(tx)
      await audit.record(tx, { kind: 'maintenance.on', ...by, detail: { message, until, read_only, sessions } })
      return { sessions, before }
    })
  },
  async end(by) {
    if (!(await settings.maintenance())) return false
    await settings.declare(undefined, (tx) => audit.record(tx, { kind: 'maintenance.off', ...by }))
    return true
  },
})
