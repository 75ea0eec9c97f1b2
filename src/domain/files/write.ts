import type { Clock } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import { advance, headOf } from '../../storage/changes.ts'
import type { Contents, Staged } from '../../storage/contents.ts'
import type { Database, Reader, Writer } from '../../storage/database.ts'
import { insertNode, ownQuota, replaceFile, type Node } from '../../storage/files.ts'
import { TooLarge } from '../../storage/blobs/blobs.ts'
import { nameKey } from './paths.ts'
import { expect, type Expectation } from './preconditions.ts'
import type { Address, Reach } from './reach.ts'
import { recordNodes, type Spot, type Tree } from './tree.ts'

/** What the service allows, in bytes; -1 for no limit. */
export interface Allowance {
  /** The quota of accounts that have none of their own. */
  defaultQuota: number
  maxFileSize: number
  /** Milliseconds for which what was deleted or overwritten can be restored. */
  retention: number
}

/** The quota in force for an account, in bytes; -1 for unlimited. */
export const quotaOf = async (on: Reader, user: number, allowance: () => Promise<Allowance>): Promise<number> =>
  (await ownQuota(on, user)) ?? (await allowance()).defaultQuota

/** Fault `quota_exceeded` when the bytes an account came to use are more than it may; what does not grow always passes. */
export function assertWithin(quota: number, used: number, growth: number): void {
  if (growth > 0 && quota >= 0 && used > quota) throw quotaExceeded(quota)
}

export interface Written {
  path: string
  size: number
  sha256: string
  mtime: number
  version: number
  cursor: number
}

export interface Received {
  staged: Staged
  /** What the caller said the content is; not met: nothing is stored. */
  claimed?: { sha256?: string | undefined; length?: number | undefined }
  /** Seconds; now when not given. */
  mtime?: number | undefined
  expectation?: Expectation
}

/** A content to be put somewhere. */
export interface Content {
  sha256: string
  size: number
  /** Seconds; undefined keeps an equal file's time and is now for another. */
  mtime: number | undefined
}

const quotaExceeded = (quota: number): Fault =>
  fault('quota_exceeded', { text: `The storage quota of ${formatSize(quota)} is used up.` })

const tooLarge = (max: number): Fault => fault('too_large', { text: `A file may have at most ${formatSize(max)}.` })

interface Parts {
  database: Database
  contents: Contents
  clock: Clock
  tree: Tree
  reach: Reach
  allowance: () => Promise<Allowance>
}

/** Refuses a content that is not what its sender said it is: fault `checksum_mismatch`. */
export function assertClaim({ staged, claimed = {} }: Pick<Received, 'staged' | 'claimed'>): void {
  if (claimed.length !== undefined && claimed.length !== staged.size) {
    throw fault('checksum_mismatch', {
      text: `${staged.size} bytes arrived instead of ${claimed.length}; nothing was stored.`,
    })
  }
  if (claimed.sha256 !== undefined && claimed.sha256 !== staged.sha256) throw fault('checksum_mismatch')
}

/** Bytes the acting account comes to use; whoever paid for a room's file so far gets theirs back. */
async function growthOf(tx: Writer, user: number, node: Node | undefined, size: number): Promise<number> {
  if (!node || node.user_id === user) return size - (node?.size ?? 0)
  await advance(tx, node.user_id, 0, -node.size)
  return size
}

/**
 * Puts a content at a spot inside a transaction, creating missing folders and replacing what is there; the content before
 * stays restorable. `claim` makes sure that the content is there. Faults: `exists`, `precondition_failed`, `quota_exceeded`.
 */
export function makeStore({ clock, tree }: Pick<Parts, 'clock' | 'tree'>) {
  return async function store(
    tx: Writer,
    spot: Spot,
    content: Content,
    {
      expectation = {},
      quota,
      claim,
    }: { expectation?: Expectation; quota: number; claim?: (now: number) => Promise<void> },
  ): Promise<Omit<Written, 'path'>> {
    const now = clock.now()
    const { parent, name, node, made } = await tree.makePlace(tx, spot, now)
    if (node?.type === 'directory') throw fault('exists', { text: 'There is a folder with that name.' })
    expect(node, expectation)
    const { sha256, size, mtime = Math.floor(now / 1_000) } = content
    const file = { user_id: spot.user, sha256, size, mtime }
    if (node && node.sha256 === sha256 && (content.mtime === undefined || node.mtime === mtime)) {
      const { seq } = (await headOf(tx, spot.user))!
      return { sha256, size, mtime: node.mtime, version: node.version, cursor: seq }
    }
    await claim?.(now)
    const growth = await growthOf(tx, spot.user, node, size)
    let id = node?.id
    if (id !== undefined) await replaceFile(tx, { id, ...file }, node!.sha256 !== sha256, now)
    else {
      const place = { room_id: spot.room, parent_id: parent, name, name_key: nameKey(name), type: 'file' as const }
      id = await insertNode(tx, { ...place, ...file }, now)
    }
    const head = await recordNodes(tx, spot, [...made, id], growth, now)
    assertWithin(quota, head.used_bytes, growth)
    return { sha256, size, mtime, version: (node?.version ?? 0) + 1, cursor: head.seq }
  }
}

/** Storing contents. */
export const makeWrite = (parts: Parts) => {
  const { database, contents, tree, reach, allowance } = parts
  const store = makeStore(parts)

  /** What is written by one unit, given the account's quota. */
  async function writeIn(tx: Writer, user: number, address: Address, received: Received, quota: number) {
    const { staged, mtime, expectation = {} } = received
    const spot = await reach.spot(tx, user, address)
    const content = { sha256: staged.sha256, size: staged.size, mtime }
    return store(tx, spot, content, { expectation, quota, claim: (now) => contents.claim(tx, staged, now) })
  }

  return {
    writeIn,

    /**
     * Refuses an upload before its body is read, when its length says it cannot be stored: faults `bad_path`,
     * `too_large`, `quota_exceeded`, and those of the path. Checked again when it is stored.
     */
    async admit(user: number, path: string, length: number): Promise<void> {
      const address = reach.address(path)
      const { maxFileSize: max } = await allowance()
      if (max >= 0 && length > max) throw tooLarge(max)
      const spot = await reach.spot(database.read, user, address)
      const quota = await quotaOf(database.read, user, allowance)
      if (quota < 0) return
      const { used_bytes: used } = (await headOf(database.read, user))!
      if (used + length <= quota) return
      const node = await tree.find(database.read, spot)
      const growth = length - (node?.user_id === user ? node.size : 0)
      assertWithin(quota, used + growth, growth)
    },

    /** Receives a content. Faults: `too_large`. */
    async receive(source: AsyncIterable<Uint8Array>): Promise<Staged> {
      const { maxFileSize: max } = await allowance()
      try {
        return await contents.stage(source, max < 0 ? Infinity : max)
      } catch (error) {
        throw error instanceof TooLarge ? tooLarge(max) : error
      }
    },

    /**
     * Puts a received content at a path, creating missing folders and replacing what is there; the content before stays
     * restorable. Durable when it resolves. Faults: `bad_path`, `checksum_mismatch`, `exists`, `precondition_failed`, `quota_exceeded`.
     */
    async write(user: number, path: string, received: Received): Promise<Written> {
      const address = reach.address(path)
      assertClaim(received)
      const quota = await quotaOf(database.read, user, allowance)
      const written = await database.write((tx) => writeIn(tx, user, address, received, quota))
      return { path, ...written }
    },
  }
}

export type Write = ReturnType<typeof makeWrite>
