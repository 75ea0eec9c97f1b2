import type { Clock } from '../../base/clock.ts'
import { fault } from '../../contract/errors.ts'
import { accountById, adminIds, deleteAccount, holdAdmins, type Account } from '../../storage/accounts.ts'
import { headOf } from '../../storage/changes.ts'
import { departFromChat } from '../../storage/chat-departure.ts'
import type { Database, Reader } from '../../storage/database.ts'
import { possessionsOf, type Possessions } from '../../storage/possessions.ts'
import { passOnRoomFolders } from '../../storage/room-files.ts'
import { handOverFiles, handOverFolder, type Handover } from '../files/files.ts'
import type { Audit } from '../instance/instance.ts'
import { shapes } from '../sync/sync.ts'
import { assertOther, doer, type Acting } from './acting.ts'
import type { Lockout } from './lockout.ts'
import { assertNotLast } from './user-changes.ts'
import { present } from './user.ts'

export type { Possessions } from '../../storage/possessions.ts'

/** What another account came by when one was removed. */
export interface HandedOver extends Handover {
  /** Bytes the new owner may use, -1 for unlimited. */
  quota_bytes: number
}

export interface Removed {
  had: Possessions
  handed_over: HandedOver | undefined
}

/** What a removal would do. */
export interface RemovalPlan {
  has: Possessions
  /** Where the files would be, and what the heir would use then. */
  hands_over: Pick<HandedOver, 'folder' | 'used_bytes' | 'quota_bytes'> | undefined
}

export interface Removal {
  /** What `remove` would do if nothing changed until then; throws what it would throw. */
  planRemoval(id: number, heir?: number): Promise<RemovalPlan>
  /**
   * Removes the account for good. With an heir, its files go there: see `handOverFiles`. Rooms that nobody else is in end;
   * elsewhere its messages go, and without an heir the files it stored there. Throws `conflict` for the last administrator,
   * `bad_request` when it is its own heir.
   */
  remove(id: number, heir?: number, acting?: Acting): Promise<Removed>
}

interface Deps {
  database: Database
  clock: Clock
  lockout: Lockout
  audit: Audit
  policy: () => Promise<{ defaultQuotaBytes: number }>
}

const tables = shapes.map(({ name }) => name)
const count = (on: Reader, id: number): Promise<Possessions> => possessionsOf(on, id, tables)

/** The end of accounts. Throws `not_found` when there is none. */
export function makeRemoval({ database, clock, lockout, audit, policy }: Deps): Removal {
  /** The account that is to get the files. */
  async function heirOf(on: Reader, id: number, heir: number | undefined): Promise<Account | undefined> {
    if (heir === id) throw fault('bad_request', { text: 'The files must go to another account.' })
    return heir === undefined ? undefined : present(accountById(on, heir))
  }

  return {
    async planRemoval(id, heir) {
      const { defaultQuotaBytes } = await policy()
      return database.snapshot(async (at) => {
        const account = await present(accountById(at, id))
        const to = await heirOf(at, id, heir)
        assertNotLast(await adminIds(at), account, 'removed')
        const has = await count(at, id)
        if (!to) return { has, hands_over: undefined }
        const name = await handOverFolder(at, account, to.id)
        const used_bytes = (await headOf(at, to.id))!.used_bytes + has.bytes + has.room_bytes
        const quota_bytes = to.quota_bytes ?? defaultQuotaBytes
        return { has, hands_over: { folder: name === null ? null : `/${name}`, used_bytes, quota_bytes } }
      })
    },
    async remove(id, heir, acting) {
      assertOther(acting, id, 'Nobody removes their own account: ask another administrator.')
      const { defaultQuotaBytes } = await policy()
      return database.write(async (tx) => {
        const account = await present(accountById(tx, id))
        const to = await heirOf(tx, id, heir)
        assertNotLast(await holdAdmins(tx), account, 'removed')
        const had = await count(tx, id)
        const now = clock.now()
        const handed_over = to && {
          ...(await handOverFiles(tx, account, to.id, now)),
          quota_bytes: to.quota_bytes ?? defaultQuotaBytes,
        }
        await lockout.clear(tx, account.username)
        const detail = handed_over && { files_to: to!.username, folder: handed_over.folder }
        await audit.record(tx, { kind: 'user.removed', ...doer(id, acting), ...(detail && { detail }) })
        await passOnRoomFolders(tx, id)
        await departFromChat(tx, id, now)
        await deleteAccount(tx, id)
        return { had, handed_over }
      })
    },
  }
}
