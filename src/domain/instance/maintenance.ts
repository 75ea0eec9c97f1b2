import { isSound, printable } from '../../base/text.ts'
import type { Clock } from '../../base/clock.ts'
import { badRequest } from '../../contract/errors.ts'
import { deleteAllPendingLogins } from '../../storage/accounts/pending-logins.ts'
import { deleteAllSessions } from '../../storage/accounts/sessions.ts'
import type { Audit, AuditActor } from './audit.ts'
import type { Maintenance, Settings } from './settings.ts'

const MESSAGE_LENGTH = 500

/** The last time with a four-digit year in ISO 8601, epoch ms. */
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

export interface MaintenanceSwitch {
  /**
   * Begins maintenance until `end` or the time `until` (epoch ms): closes the service to everybody except administrators,
   * or with `read_only` refuses changes. Closing ends all sessions and pending logins in the same transaction. During
   * maintenance it changes message, end and mode. Throws `bad_request`.
   */
  begin(maintenance: Omit<Maintenance, 'read_only'> & { read_only?: boolean }, by?: AuditActor): Promise<Begun>
  /** Ends maintenance. Returns false if there was none. */
  end(by?: AuditActor): Promise<boolean>
}

interface Begun {
  sessions: number
  /** The previous maintenance. */
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
    if (until !== null && !(until > clock.now())) throw badRequest('until', 'must lie in the future')
    if (until !== null && until > LATEST) throw badRequest('until', 'must lie before the year 10000')
    return settings.declare({ message, until, read_only }, async (tx, before) => {
      // Only administrators have sessions while the service is closed: changing the message does not end them.
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
