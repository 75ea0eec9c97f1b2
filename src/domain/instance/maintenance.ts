import { isSound, printable } from '../../base/text.ts'
import type { Clock } from '../../base/clock.ts'
import { badRequest } from '../../contract/errors.ts'
import { deleteAllPendingLogins } from '../../storage/pending-logins.ts'
import { deleteAllSessions } from '../../storage/sessions.ts'
import type { Audit } from './audit.ts'
import type { Maintenance, Settings } from './settings.ts'

const MESSAGE_LENGTH = 500

/** The last moment a date can name, epoch ms (ECMAScript, time values). */
const LATEST = 8.64e15

export interface MaintenanceSwitch {
  /**
   * Keeps everybody but administrators out from now on, until `end` or the moment `until` (epoch ms). Ends every session
   * and every waiting login in the same transaction; says how many sessions. Throws `bad_request`.
   */
  begin(maintenance: Maintenance): Promise<{ sessions: number }>
  /** Lets everybody in again; nothing happens when it was over already. */
  end(): Promise<void>
}

interface Parts {
  clock: Clock
  settings: Settings
  audit: Audit
}

export const makeMaintenance = ({ clock, settings, audit }: Parts): MaintenanceSwitch => ({
  async begin({ message, until }) {
    if (!isSound(message) || printable(message) !== message || [...message].length > MESSAGE_LENGTH)
      throw badRequest('message', `has at most ${MESSAGE_LENGTH} characters, on one line`)
    const isFuture = until === null || (until > clock.now() && until <= LATEST)
    if (!isFuture) throw badRequest('until', 'must lie in the future')
    return settings.declare({ message, until }, async (tx) => {
      const sessions = await deleteAllSessions(tx)
      await deleteAllPendingLogins(tx)
      await audit.record(tx, { kind: 'maintenance.on', detail: { message, until, sessions } })
      return { sessions }
    })
  },
  async end() {
    if (!(await settings.maintenance())) return
    await settings.declare(undefined, (tx) => audit.record(tx, { kind: 'maintenance.off' }))
  },
})
