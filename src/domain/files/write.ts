import type { Clock } from '../../base/clock.ts'
import { formatSize } from '../../base/sizes.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import { headOf } from '../../storage/changes.ts'
import type { Contents, Staged } from '../../storage/contents.ts'
import type { Database, Reader, Writer } from '../../storage/database.ts'
import { insertNode, ownQuota, replaceFile } from '../../storage/files.ts'
import { TooLarge } from '../../storage/blobs/blobs.ts'
import { nameKey, ownSegments, pathOf, type Segments } from './paths.ts'
import { expect, type Expectation } from './preconditions.ts'
import { recordNodes, type Tree } from './tree.ts'

/** What the service allows, in bytes; -1 for no limit. */
export interface Allowance {
  /** The quota of accounts that have none of their own. */
  defaultQuota: number
  maxFileSize: number
}

/** The quota in force for an account, in bytes; -1 for unlimited. */
export const quotaOf = async (on: Reader, user: number, allowance: () => Promise<Allowance>): Promise<number> =>
  (await ownQuota(on, user)) ?? (await allowance()).defaultQuota

export interface Written {
  path: string
  size: number
  sha256: string
  mtime: number
  version: number
  cursor: number
}

interface Received {
  staged: Staged
  /** What the caller said the content is; not met: nothing is stored. */
  claimed: { sha256?: string | undefined; length?: number | undefined }
  /** Seconds; now when not given. */
  mtime?: number | undefined
  expectation: Expectation
}

const quotaExceeded = (quota: number): Fault =>
  fault('quota_exceeded', { text: `The storage quota of ${formatSize(quota)} is used up.` })

interface Parts {
  database: Database
  contents: Contents
  clock: Clock
  tree: Tree
  allowance: () => Promise<Allowance>
  announce: (user: number) => void
}

/** Storing contents in the account's tree. */
export const makeWrite = ({ database, contents, clock, tree, allowance, announce }: Parts) => {
  async function store(
    tx: Writer,
    user: number,
    segments: Segments,
    { staged, mtime, expectation }: Received,
    quota: number,
  ): Promise<Written> {
    const now = clock.now()
    const { parent, name, node, made } = await tree.makePlace(tx, user, segments, now)
    if (node?.type === 'directory') throw fault('exists', { text: 'There is a folder with that name.' })
    expect(node, expectation)
    const file = { sha256: staged.sha256, size: staged.size, mtime: mtime ?? Math.floor(now / 1_000) }
    const answer = { path: pathOf(segments), ...file }
    if (node && node.sha256 === file.sha256 && (mtime === undefined || node.mtime === mtime)) {
      const { seq } = (await headOf(tx, user))!
      return { ...answer, mtime: node.mtime, version: node.version, cursor: seq }
    }
    const growth = staged.size - (node?.size ?? 0)
    await contents.claim(tx, staged, now)
    let id = node?.id
    if (id !== undefined) await replaceFile(tx, { id, ...file }, node!.sha256 !== file.sha256, now)
    else {
      const fresh = { user_id: user, parent_id: parent, name, name_key: nameKey(name), type: 'file' as const, ...file }
      id = await insertNode(tx, fresh, now)
    }
    const head = await recordNodes(tx, user, [...made, id], growth, now)
    if (growth > 0 && quota >= 0 && head.used_bytes > quota) throw quotaExceeded(quota)
    return { ...answer, version: (node?.version ?? 0) + 1, cursor: head.seq }
  }

  return {
    /**
     * Refuses an upload before its body is read, when its length says it cannot be stored: faults `bad_path`,
     * `too_large`, `quota_exceeded`. Checked again when it is stored.
     */
    async admit(user: number, path: string, length: number): Promise<void> {
      const segments = ownSegments(path)
      const { maxFileSize: max } = await allowance()
      if (max >= 0 && length > max) throw tooLarge(max)
      const quota = await quotaOf(database.read, user, allowance)
      if (quota < 0) return
      const { used_bytes: used } = (await headOf(database.read, user))!
      if (used + length <= quota) return
      const node = await tree.find(database.read, user, segments)
      const growth = length - (node?.size ?? 0)
      if (growth > 0 && used + growth > quota) throw quotaExceeded(quota)
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
      const { staged, claimed } = received
      const segments = ownSegments(path)
      if (claimed.length !== undefined && claimed.length !== staged.size) {
        throw fault('checksum_mismatch', {
          text: `${staged.size} bytes arrived instead of ${claimed.length}; nothing was stored.`,
        })
      }
      if (claimed.sha256 !== undefined && claimed.sha256 !== staged.sha256) throw fault('checksum_mismatch')
      const quota = await quotaOf(database.read, user, allowance)
      const written = await database.write((tx) => store(tx, user, segments, received, quota))
      announce(user)
      return written
    },
  }
}

const tooLarge = (max: number): Fault => fault('too_large', { text: `A file may have at most ${formatSize(max)}.` })
