import { attemptAll } from '../../base/attempts.ts'
import { DAY, HOUR, SECOND, type Clock } from '../../base/clock.ts'
import { SESSION_LIFETIME } from '../../contract/limits.ts'
import { forgetConfirmations } from '../../storage/assistant/confirmations.ts'
import { forgetSets } from '../../storage/assistant/ledger.ts'
import { forgetAudit } from '../../storage/instance/audit.ts'
import { compact } from '../../storage/feed/changes.ts'
import type { Contents } from '../../storage/contents/contents.ts'
import type { Database, Writer } from '../../storage/engine/database.ts'
import { forgetKeys, forgetOperations } from '../../storage/feed/pushes.ts'
import { sweepTokens } from '../../storage/accounts/device-tokens.ts'
import { sweepBypassCodes } from '../../storage/accounts/second-factors.ts'
import { sweepPendingLogins } from '../../storage/accounts/pending-logins.ts'
import { sweepSessions } from '../../storage/accounts/sessions.ts'
import { forgetGone } from '../../storage/contents/released-contents.ts'
import { inSlices } from '../../storage/engine/slices.ts'
import { AUDIT_MEMORY } from './audit.ts'
import { noteRun, type ClockJump } from './clock-jump.ts'
import type { History } from '../files/files.ts'
import type { Settings } from './settings.ts'
import { forgetMessageDeletions } from './message-deletions.ts'
import { trim } from './trim.ts'
import { noteUsageOf } from './usage-notes.ts'

/** Amounts removed by one run. */
export interface Removed {
  tombstones: number
  trash: number
  versions: number
  contents: number
  bytes: number
  /** Why nothing was removed. */
  postponed?: ClockJump
}

/** How long repeated pushes are recognised. */
const PUSH_MEMORY = 30 * DAY

/** How long unreferenced contents are kept for uploads in progress. */
export const CONTENT_GRACE = DAY

export const UPKEEP_EVERY = HOUR

export interface UpkeepParts {
  database: Database
  contents: Contents
  history: Pick<History, 'forgetTrash' | 'forgetVersions'>
  clock: Clock
  settings: Settings
}

/**
 * Deletes what is past its retention: tombstones, trash, versions, changes of the assistant, stored pushes, expired
 * sessions, tokens and codes, old audit entries, and unreferenced contents. Notes the usage of accounts once a day. Errors are thrown
 * after everything else is done. Does nothing while the clock may have jumped.
 */
export const makeUpkeep =
  ({ database, contents, history, clock, settings }: UpkeepParts) =>
  async (): Promise<Removed> => {
    const now = clock.now()
    const values = await settings.values()
    const outdated = now - values['retention.tombstones_days'] * DAY
    const kept = now - values['retention.versions_days'] * DAY
    const forget = (remove: (tx: Writer, before: number, limit: number) => Promise<number>, before: number) =>
      inSlices(database, (tx, limit) => remove(tx, before, limit))
    const removed: Removed = { tombstones: 0, trash: 0, versions: 0, contents: 0, bytes: 0 }
    const postponed = await noteRun(database, now)
    if (postponed) return { ...removed, postponed }
    const idleSince = now - SESSION_LIFETIME.idle * SECOND
    const madeSince = now - SESSION_LIFETIME.max * SECOND
    await attemptAll([
      async () => void (removed.tombstones = await forget(compact, outdated)),
      () => forgetMessageDeletions(database, outdated, now),
      async () => void (removed.trash = await history.forgetTrash(kept)),
      async () => void (removed.versions = await history.forgetVersions(kept)),
      () => forget(forgetSets, kept),
      () => forget(forgetOperations, now - PUSH_MEMORY),
      () => forget(forgetKeys, now - PUSH_MEMORY),
      () => trim(database, values),
      () =>
        database.write('instance', async (tx) => {
          await sweepSessions(tx, { idleSince, madeSince })
          await sweepTokens(tx, now)
          await sweepPendingLogins(tx, now)
          await sweepBypassCodes(tx, now)
          await forgetConfirmations(tx, now)
        }),
      () => forget(forgetAudit, now - AUDIT_MEMORY),
      () => noteUsageOf(database, Math.floor(now / DAY)),
      async () => void Object.assign(removed, await contents.collect(now - CONTENT_GRACE)),
      () => forgetGone(database),
    ])
    return removed
  }
