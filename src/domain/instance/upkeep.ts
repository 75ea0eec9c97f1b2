import { DAY, HOUR, SECOND, type Clock } from '../../base/clock.ts'
import { SESSION_LIFETIME } from '../../contract/limits.ts'
import { forgetConfirmations } from '../../storage/assistant-confirmations.ts'
import { forgetSets } from '../../storage/assistant-ledger.ts'
import { forgetAudit } from '../../storage/audit.ts'
import { compact } from '../../storage/changes.ts'
import { forgetDeletions } from '../../storage/chat-messages.ts'
import type { Contents } from '../../storage/contents.ts'
import type { Database } from '../../storage/database.ts'
import { purge } from '../../storage/trash.ts'
import { forgetPushes } from '../../storage/pushes.ts'
import { sweepTokens } from '../../storage/device-tokens.ts'
import { sweepBypassCodes } from '../../storage/second-factors.ts'
import { sweepSessions } from '../../storage/sessions.ts'
import { forgetUsage, noteUsage } from '../../storage/usage.ts'
import { AUDIT_MEMORY } from './audit.ts'
import type { Settings } from './settings.ts'

/** What one round of upkeep removed. */
export interface Removed {
  tombstones: number
  trash: number
  versions: number
  contents: number
  bytes: number
}

/** Repeated pushes are recognised this long. */
const PUSH_MEMORY = 30 * DAY

/** How long it is known what accounts used, in days. */
const USAGE_MEMORY = 400

/** A content nobody points to is kept this long, for uploads that are about to. */
export const CONTENT_GRACE = DAY

export const UPKEEP_EVERY = HOUR

interface Parts {
  database: Database
  contents: Contents
  clock: Clock
  settings: Settings
}

/**
 * Forgets what is past its retention: tombstones, trash, versions, changes of the assistant, remembered pushes, sessions, tokens and codes that are
 * over, old entries of the audit log, and contents nothing points to. Notes what every account uses today.
 */
export const makeUpkeep =
  ({ database, contents, clock, settings }: Parts) =>
  async (): Promise<Removed> => {
    const now = clock.now()
    const values = await settings.values()
    const tombstones = await database.write((tx) => compact(tx, now - values['retention.tombstones_days'] * DAY))
    await database.write((tx) => forgetDeletions(tx, now - values['retention.tombstones_days'] * DAY))
    const purged = await database.write((tx) => purge(tx, now - values['retention.versions_days'] * DAY))
    await database.write((tx) => forgetSets(tx, now - values['retention.versions_days'] * DAY))
    await database.write((tx) => forgetPushes(tx, now - PUSH_MEMORY))
    const idleSince = now - SESSION_LIFETIME.idle * SECOND
    const madeSince = now - SESSION_LIFETIME.max * SECOND
    await database.write(async (tx) => {
      await sweepSessions(tx, { idleSince, madeSince })
      await sweepTokens(tx, now)
      await sweepBypassCodes(tx, now)
      await forgetConfirmations(tx, now)
    })
    await database.write((tx) => forgetAudit(tx, now - AUDIT_MEMORY))
    const today = Math.floor(now / DAY)
    await database.write((tx) => noteUsage(tx, today))
    await database.write((tx) => forgetUsage(tx, today - USAGE_MEMORY))
    const collected = await contents.collect(now - CONTENT_GRACE)
    return { tombstones, ...purged, ...collected }
  }
