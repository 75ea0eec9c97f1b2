import type { Clock } from '../../base/clock.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import { accountById, adminIds, lockAdmins, updateAccount, type Account } from '../../storage/accounts/accounts.ts'
import { headOf } from '../../storage/feed/changes.ts'
import type { Database, Reader, Writer } from '../../storage/engine/database.ts'
import type { Lifetime } from '../../storage/accounts/device-tokens.ts'
import type { Extent } from '../../storage/files/nodes.ts'
import { deletePendingLoginsOf } from '../../storage/accounts/pending-logins.ts'
import { accountDataOf, sharedMessagesOf, type AccountData } from '../../storage/accounts/account-data.ts'
import { beginRemoval, isHeir, removalOf } from '../../storage/accounts/removals.ts'
import { deleteBypassCode } from '../../storage/accounts/second-factors.ts'
import { beginHandOver, handOverExtent, handOverFolder, type Handover } from '../files/files.ts'
import type { Audit } from '../instance/instance.ts'
import { shapes } from '../sync/sync.ts'
import { assertOther, auditActor, type Actor } from './actor.ts'
import type { Lockout } from './lockout.ts'
import { revokeAccess } from './revocation.ts'
import type { RemovalJobs } from './removal-jobs.ts'
import { assertNotLast } from './user-changes.ts'
import { orNotFound } from './user.ts'

export type { AccountData } from '../../storage/accounts/account-data.ts'

export interface HandedOver extends Handover {
  /** Quota of the heir in bytes, -1 for unlimited. */
  quota_bytes: number
}

export interface RemovalOptions {
  /** Id of the account that receives the files; without one they are deleted. */
  heir?: number | undefined
  /** Whether messages stay in shared rooms, attributed to the former user. */
  keepMessages?: boolean | undefined
}

export interface Removed {
  had: AccountData
  messages_kept: number
  /** Undefined if the removal had begun before. */
  handed_over: HandedOver | undefined
}

export interface RemovalPlan {
  has: AccountData
  messages_kept: number
  /** The folder with the files, and the heir's use afterwards. */
  hands_over: Pick<HandedOver, 'folder' | 'used_bytes' | 'quota_bytes'> | undefined
}

export interface Removal {
  /** What `remove` would do now; throws what it would throw. */
  planRemoval(id: number, options?: RemovalOptions): Promise<RemovalPlan>
  /**
   * Removes the account permanently. Access ends at once; everything else follows in slices, and an interrupted removal
   * resumes at the next start, upkeep or removal. Resolves when all is done. With an heir, its tree with all versions
   * becomes a folder of the heir, and its files in chat rooms count towards the heir's quota; without one they are deleted.
   * The trash is deleted in any case. Rooms without other members end; in others its messages are deleted unless they are
   * kept. Throws `conflict` for the last administrator and for an account that is receiving another one's files,
   * `bad_request` if it is its own heir.
   */
  remove(id: number, options?: RemovalOptions, actor?: Actor): Promise<Removed>
  finishRemovals(): Promise<void>
}

interface Deps {
  database: Database
  clock: Clock
  lockout: Lockout
  audit: Audit
  lifetime: () => Promise<Lifetime>
  policy: () => Promise<{ defaultQuotaBytes: number }>
  removalJobs: RemovalJobs
}

const tables = shapes.map(({ name }) => name)
const count = (on: Reader, id: number): Promise<AccountData> => accountDataOf(on, id, tables)

/** Measured before the transaction, because it is slow. */
interface Measured {
  has: AccountData
  /** Size of the tree that the heir receives. */
  extent: Extent
  /** Number of messages that can stay. */
  shared: number
}

const beingRemoved = ({ username }: Account): Fault => fault('conflict', { text: `"${username}" is being removed.` })

async function heirOf(on: Reader, id: number, heir: number | undefined): Promise<Account | undefined> {
  if (heir === id) throw fault('bad_request', { text: 'Choose another account for the files.' })
  if (heir === undefined) return undefined
  const account = await orNotFound(accountById(on, heir))
  if (account.removing_since !== null) throw beingRemoved(account)
  return account
}

/** Refuses other options than those with which the removal began: fault `conflict`. Returns whether the messages stay. */
async function assertSameOptions(
  on: Reader,
  account: Account,
  { heir, keepMessages }: RemovalOptions,
): Promise<boolean> {
  const begun = await removalOf(on, account.id)
  const refused = (what: string) =>
    fault('conflict', { text: `"${account.username}" is being removed already, and ${what} was decided then.` })
  if (heir !== undefined && begun?.heir_id !== heir) throw refused('who gets the files')
  const keeps = begun?.keeps_messages === 1
  if (keepMessages && !keeps) throw refused('that its messages go')
  return keeps
}

/** Checks that the account can be removed. Returns the heir. */
async function assertRemovable(on: Reader, account: Account, heir: number | undefined, admins: number[]) {
  const to = await heirOf(on, account.id, heir)
  assertNotLast(admins, account, 'removed')
  if (await isHeir(on, account.id)) {
    const text = `"${account.username}" is getting the files of a user who is being removed: try again when that is done.`
    throw fault('conflict', { text })
  }
  return to
}

const measure = async (on: Reader, id: number, heir: number | undefined): Promise<Measured> => ({
  has: await count(on, id),
  extent: heir === undefined ? { depth: 0, bytes: 0 } : await handOverExtent(on, id),
  shared: await sharedMessagesOf(on, id),
})

/** Removal of accounts. Throws `not_found`. */
export function makeRemoval({ database, clock, lockout, audit, lifetime, policy, removalJobs }: Deps): Removal {
  async function endAccess(tx: Writer, { id, username, disabled_at }: Account, now: number, bounds: Lifetime) {
    await updateAccount(tx, id, { disabled_at: disabled_at ?? now }, now)
    await lockout.clear(tx, username)
    await deletePendingLoginsOf(tx, id)
    await deleteBypassCode(tx, id)
    await revokeAccess(tx, id, bounds)
  }

  return {
    async planRemoval(id, options = {}) {
      const { heir, keepMessages = false } = options
      const { defaultQuotaBytes } = await policy()
      return database.snapshot(async (at) => {
        const account = await orNotFound(accountById(at, id))
        if (account.removing_since !== null) {
          const keeps = await assertSameOptions(at, account, options)
          const messages_kept = keeps ? await sharedMessagesOf(at, id) : 0
          return { has: await count(at, id), messages_kept, hands_over: undefined }
        }
        const to = await assertRemovable(at, account, heir, await adminIds(at))
        const { has, extent, shared } = await measure(at, id, heir)
        const messages_kept = keepMessages ? shared : 0
        if (!to) return { has, messages_kept, hands_over: undefined }
        const name = await handOverFolder(at, account, to.id, extent)
        const used_bytes = (await headOf(at, to.id))!.used_bytes + has.bytes + has.room_bytes
        const quota_bytes = to.quota_bytes ?? defaultQuotaBytes
        const folder = name === null ? null : `/${name}`
        return { has, messages_kept, hands_over: { folder, used_bytes, quota_bytes } }
      })
    },

    async remove(id, options = {}, actor) {
      const { heir, keepMessages = false } = options
      assertOther(actor, id, 'You cannot remove your own account: ask another administrator.')
      const { defaultQuotaBytes } = await policy()
      const bounds = await lifetime()
      const { has, extent, shared } = await database.snapshot(async (at) => {
        await orNotFound(accountById(at, id))
        return measure(at, id, heir)
      })
      const begun = await database.write('instance', async (tx) => {
        const account = await orNotFound(accountById(tx, id))
        if (account.removing_since !== null) return { keeps: await assertSameOptions(tx, account, options) }
        const to = await assertRemovable(tx, account, heir, await lockAdmins(tx))
        const now = clock.now()
        await endAccess(tx, account, now, bounds)
        const name = to ? await beginHandOver(tx, account, to.id, { extent, now }) : null
        const folder = name === null ? null : `/${name}`
        await beginRemoval(tx, { user_id: id, heir_id: to?.id ?? null, keeps_messages: keepMessages ? 1 : 0 }, now)
        const detail = { ...(to && { files_to: to.username, folder }), ...(keepMessages && { messages_kept: shared }) }
        const isDetailed = Object.keys(detail).length > 0
        await audit.record(tx, { kind: 'user.removed', ...auditActor(id, actor), ...(isDetailed && { detail }) })
        const handing = to && { to: to.id, folder, quota_bytes: to.quota_bytes ?? defaultQuotaBytes }
        return { keeps: keepMessages, handing }
      })
      await removalJobs.finish(id)
      const messages_kept = begun.keeps ? shared : 0
      if (!begun.handing) return { had: has, messages_kept, handed_over: undefined }
      const { to, folder, quota_bytes } = begun.handing
      const { used_bytes = 0 } = (await headOf(database.read, to)) ?? {}
      const { bytes, room_files, room_bytes } = has
      const nodes = has.files + has.folders
      const handed_over = { folder, nodes, bytes, room_files, room_bytes, used_bytes, quota_bytes }
      return { had: has, messages_kept, handed_over }
    },

    finishRemovals: removalJobs.finishAll,
  }
}
