import { iso } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { fault } from '../../contract/errors.ts'
import type { Manifest } from '../../storage/backups/backup-manifest.ts'
import type { BackupSource } from '../../storage/backups/source.ts'
import { accountById, accountByName, type Account } from '../../storage/accounts/accounts.ts'
import type { Reader } from '../../storage/engine/database.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { JobContext } from '../backups/backups.ts'
import type { Audit, Identity } from '../instance/instance.ts'
import { accountStateOf } from './account-state.ts'
import { applyDifference, type ApplyParts, type Failure } from './apply.ts'
import { bytesOf, differenceOf, type Difference } from './difference.ts'
import { openPastDatabase, type PastDatabase } from './past-database.ts'
import { lockRewind, rewindHistory, type RewindLock } from './rewind-lock.ts'

export type { Difference, TableDifference } from './difference.ts'
export type { Failure } from './apply.ts'
export type { RewindLock, SavedState, UnfinishedRewind } from './rewind-lock.ts'

interface Parts extends ApplyParts {
  accounts: Pick<Accounts, 'details'>
  audit: Audit
  identity: Identity
}

/** The backup with the older state, and a folder for a copy of its database. */
export interface Past {
  source: BackupSource
  manifest: Manifest
  scratch: string
}

/** A comparison of an account with an older state of it. */
export interface RewindPlan {
  username: string
  difference: Difference
  /** Makes the account as it was, while it holds the lock. Returns what stayed as it is. */
  execute(job: JobContext, lock: RewindLock): Promise<Failure[]>
  close(): Promise<void>
}

/** The backup does not have an older state of this account. */
class OtherAccount extends Error {
  override name = 'OtherAccount'
  readonly exitCode: number
  constructor(text: string, exitCode: number) {
    super(text)
    this.exitCode = exitCode
  }
}

/** The same account in the past; it may have had another name. */
async function pastAccount(at: Reader, { id, username, created_at }: Pick<Account, 'id' | 'username' | 'created_at'>) {
  const account = await accountById(at, id)
  if (account?.created_at === created_at) return account.id
  const isOther = (await accountByName(at, username)) !== undefined
  const text = isOther
    ? `The account "${username}" of that moment was another one: the present one was created at ${iso(created_at)}.`
    : `There was no account "${username}" at that moment: it was created at ${iso(created_at)}.`
  throw new OtherAccount(`${text} Nothing was changed.`, isOther ? 8 : 5)
}

/** Takes single accounts back to an older state, which a backup holds. */
export function makeRewind(parts: Parts) {
  const { database, accounts, audit, identity } = parts

  async function compare(username: string, past: PastDatabase) {
    const account = await accounts.details(username)
    if (account.removing_since !== null)
      throw fault('not_found', { text: `The account "${account.username}" is being removed.` })
    const pastUser = await pastAccount(past.at, account)
    const old = await accountStateOf(past.at, pastUser)
    const present = await database.snapshot((at) => accountStateOf(at, account.id))
    const needed = account.used_bytes + bytesOf(old) - bytesOf(present)
    const { effective_quota: quota } = account
    const difference = differenceOf(old, present)
    // Without larger files a rewind is possible, also where an account already uses more than its quota.
    const grows =
      difference.restored.some(({ size }) => size > 0) || difference.replaced.some(({ growth }) => growth > 0)
    if (quota >= 0 && needed > quota && grows) {
      const set = `svc quota set ${account.username}`
      const before = account.quota_bytes ?? 'default'
      const words = `That state needs ${formatSize(needed)}, and the quota of ${account.username} is ${formatSize(quota)}.`
      throw fault('quota_exceeded', {
        text: `${words} Give more for the time being, ${set} ${needed}, and afterwards the present quota again: ${set} ${before}.`,
      })
    }
    return { account, pastUser, difference }
  }

  return {
    /** Lets this process alone rewind an account. Fault `not_found`; throws `RewindBusy`. */
    lock: async (username: string): Promise<RewindLock> => lockRewind(parts, await accounts.details(username)),

    /** A rewind that was interrupted, and the backups that rewinds made. Fault `not_found`; throws `RewindBusy` while another process runs one. */
    history: async (username: string, own?: RewindLock) => rewindHistory(parts, await accounts.details(username), own),

    /**
     * Compares an account with its state in a backup, and changes nothing yet. Faults: `not_found`, `quota_exceeded`. Throws
     * `OtherAccount` and `DamagedBackup`.
     */
    async plan(username: string, { source, manifest, scratch }: Past, job: JobContext = {}): Promise<RewindPlan> {
      if (manifest.server_id !== identity.server_id)
        throw new OtherAccount(`${source.place} holds the backups of another server. Nothing was changed.`, 8)
      const past = await openPastDatabase(source, manifest, scratch, job)
      try {
        const { account, pastUser, difference } = await compare(username, past)
        return {
          username: account.username,
          difference,
          async execute(applying, lock) {
            const failures = await applyDifference(parts, {
              user: account.id,
              past,
              pastUser,
              difference,
              job: applying,
              lock,
            })
            const detail = { backup: manifest.id, state_of: manifest.created_at, failures: failures.length }
            await database.write({ accounts: [account.id] }, (tx) =>
              audit.record(tx, { kind: 'user.rewound', about: account.id, detail }),
            )
            return failures
          },
          close: past.close,
        }
      } catch (error) {
        await past.close()
        throw error
      }
    },
  }
}

export type Rewind = ReturnType<typeof makeRewind>
