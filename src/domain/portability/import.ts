import { SECOND } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import { UPLOAD_BATCH } from '../../contract/limits.ts'
import { accountById, accountByName, updateAccount } from '../../storage/accounts/accounts.ts'
import { markImport, renewImport, unmarkImport } from '../../storage/accounts/imports.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { assertNotReserved, normalName, readUsername } from '../accounts/accounts.ts'
import type { FileEntry } from '../files/files.ts'
import { examine, type Contained } from './examine.ts'
import type { ImportParts } from './parts.ts'
import { importedFiles, type Receiver } from './unpack.ts'

export interface ImportOptions {
  /** Replaces the user name in the archive. */
  username?: string | undefined
  /** Bytes, -1 for unlimited, null for the default. */
  quota_bytes?: number | null | undefined
  /** Leaves chat rooms out. */
  withoutChats?: boolean
}

/** A validated archive and the account it would become. */
export interface ImportPlan {
  username: string
  contained: Contained
  /** Whether `execute` first removes what an interrupted import or removal left of an account of this name. */
  replaces: boolean
  /** Creates the account. Returns what was left out. */
  execute(
    password: string | { hash: string },
    done?: (bytes: number) => void,
  ): Promise<{ id: number; leftOut: string[] }>
}

/** An import that has not renewed its mark for this long was interrupted, ms. */
const LEASE = 10 * SECOND

export type Open = () => AsyncIterable<Uint8Array>

/** Creates accounts from archives. */
export const makeImport = (parts: ImportParts) => ({
  /**
   * Validates a whole archive without changing anything; `open` restarts it each time. Throws `BadArchive`; faults
   * `exists`, `quota_exceeded`, `too_large`, `bad_request`.
   */
  async planImport(open: Open, options: ImportOptions = {}): Promise<ImportPlan> {
    const contained = await examine(open())
    const username = readUsername(options.username ?? contained.account.username)
    assertNotReserved(username)
    const unfinished = await leftoverOf(parts, username)
    await assertRoom(parts, contained, username, options)
    return {
      username,
      contained,
      replaces: unfinished !== undefined,
      async execute(password, done = () => undefined) {
        if (unfinished !== undefined) await parts.accounts.remove(unfinished)
        return execute(parts, { open, contained, username, options, password, done })
      },
    }
  },
})

/** The account that an interrupted import left, or that is being removed. Fault `exists` for any other. */
async function leftoverOf({ database, clock }: ImportParts, username: string): Promise<number | undefined> {
  const account = await accountByName(database.read, normalName(username))
  if (!account) return undefined
  if (account.removing_since !== null) return account.id
  const { importing_at: mark } = account
  if (mark === null || account.disabled_at === null) {
    const text = `There is already a user named "${username}": --as NAME gives the account another name.`
    throw fault('exists', { text })
  }
  const left = mark + LEASE - clock.now()
  if (left <= 0) return account.id
  // Another import may be running, or have just ended.
  await new Promise((resolve) => setTimeout(resolve, left))
  const later = await accountById(database.read, account.id)
  if (later?.importing_at === mark) return account.id
  throw fault('conflict', { text: `Another process is importing "${username}" at this moment.` })
}

const bytesOf = ({ bytes, room_bytes }: Contained, { withoutChats }: ImportOptions): number =>
  bytes + (withoutChats ? 0 : room_bytes)

async function assertRoom(
  { policy }: ImportParts,
  contained: Contained,
  username: string,
  options: ImportOptions,
): Promise<void> {
  const { defaultQuota, maxFileSize } = await policy()
  if (maxFileSize >= 0 && contained.largest > maxFileSize) {
    const text = `A file of ${formatSize(contained.largest)} is in the archive, and files.max_size is ${formatSize(maxFileSize)}.`
    throw fault('too_large', { text })
  }
  const quota = options.quota_bytes ?? defaultQuota
  const needed = bytesOf(contained, options)
  if (quota >= 0 && needed > quota) {
    const text = `The files need ${formatSize(needed)}, and ${username} could store ${formatSize(quota)}: give more with --quota.`
    throw fault('quota_exceeded', { text })
  }
}

interface Work {
  open: Open
  contained: Contained
  username: string
  options: ImportOptions
  password: string | { hash: string }
  done: (bytes: number) => void
}

async function execute(parts: ImportParts, work: Work): Promise<{ id: number; leftOut: string[] }> {
  const { accounts, database, clock, audit } = parts
  const { account } = work.contained
  const { id } = await accounts.create(
    {
      username: work.username,
      password: work.password,
      display_name: account.display_name,
      ...(work.options.quota_bytes !== undefined && { quota_bytes: work.options.quota_bytes }),
    },
    async (tx, made) => {
      // Nobody can sign in before the import is complete, or enable the account; the name is reserved from here on.
      await updateAccount(tx, made.id, { disabled_at: clock.now(), avatar_color: account.avatar_color }, clock.now())
      await markImport(tx, made.id, clock.now())
    },
  )
  const renewal = setInterval(
    () => void database.write('instance', (tx) => renewImport(tx, id, clock.now())).catch(() => undefined),
    LEASE / 5,
  )
  try {
    const leftOut = await fill(parts, id, work)
    clearInterval(renewal)
    await database.write('instance', async (tx) => {
      if (await isRemoved(tx, id)) throw removed(work.username)
      await updateAccount(tx, id, { disabled_at: null }, clock.now())
      await unmarkImport(tx, id)
      const { server_id, username, exported_at } = account
      await audit.record(tx, { kind: 'user.imported', about: id, detail: { server_id, username, exported_at } })
    })
    return { id, leftOut }
  } catch (error) {
    const cause = (await isRemoved(database.read, id).catch(() => false)) ? removed(work.username) : error
    // If even this fails, the account stays disabled and marked, and the next import removes it.
    await accounts.remove(id).catch(() => undefined)
    throw cause
  } finally {
    clearInterval(renewal)
  }
}

/** Whether somebody removed the account, or is removing it. */
async function isRemoved(on: Reader, id: number): Promise<boolean> {
  const account = await accountById(on, id)
  return account?.removing_since !== null
}

const removed = (username: string): Fault =>
  fault('conflict', { text: `"${username}" was removed while it was imported.` })

/** Reads the archive again, now into the account. Returns what was left out. */
async function fill(parts: ImportParts, user: number, { open, contained, options, done }: Work): Promise<string[]> {
  const { files } = parts
  const receiver: Receiver = {
    ...parts,
    user,
    contained,
    withoutChats: options.withoutChats === true,
    conversations: new Map(),
    leftOut: [],
  }
  const entries = importedFiles(open(), receiver)
  for (let isOver = false; !isOver;) {
    const slice = async function* (): AsyncGenerator<FileEntry> {
      for (let count = 0; count < UPLOAD_BATCH.max_entries; count += 1) {
        const next = await entries.next()
        if (next.done) {
          isOver = true
          return
        }
        yield next.value.entry
        done(next.value.size)
      }
    }
    const { results } = await files.uploadAll(user, slice())
    const refused = results.find(({ ok }) => !ok)
    if (refused) {
      await entries.return(undefined)
      throw fault('conflict', { text: `${refused.path} could not be stored: ${refused.error}` })
    }
  }
  return receiver.leftOut
}
