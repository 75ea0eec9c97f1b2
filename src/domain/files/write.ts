import { formatSize } from '../../base/sizes.ts'
import { fault, type Fault } from '../../contract/errors.ts'
import { advance, headOf } from '../../storage/feed/changes.ts'
import type { Staged } from '../../storage/contents/contents.ts'
import type { Writer, WriteScope } from '../../storage/engine/database.ts'
import { insertNode, replaceFile, type Node } from '../../storage/files/nodes.ts'
import { TooLarge } from '../../storage/contents/blobs/blobs.ts'
import type { FileParts } from './file-parts.ts'
import { assertWithin, quotaExceeded, quotaOf } from './allowance.ts'
import type { AdmittedUpload } from './upload-accounting.ts'
import { makeReceivedContents } from './received-contents.ts'
import { nameKey } from './paths.ts'
import { expect, type Expectation } from './preconditions.ts'
import { scopeOf, withContent, type ParsedPath } from './path-resolver.ts'
import { recordNodes, type ResolvedPath } from './tree.ts'

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
  /** Declared hash and length; a mismatch stores nothing. */
  claimed?: { sha256?: string | undefined; length?: number | undefined }
  /** Seconds; defaults to now. */
  mtime?: number | undefined
  expectation?: Expectation
}

export interface Content {
  sha256: string
  size: number
  /** Seconds; undefined keeps the time of an equal file and is now for others. */
  mtime: number | undefined
}

/** A step of a transaction that stores a received content. */
type Storing<T> = (tx: Writer, staged: Staged) => Promise<T>

const tooLarge = (max: number): Fault => fault('too_large', { text: `A file may have at most ${formatSize(max)}.` })

type Parts = Pick<
  FileParts,
  'database' | 'unattended' | 'contents' | 'clock' | 'tree' | 'reach' | 'allowance' | 'bounds' | 'history' | 'flights'
>

/** Refuses a content that does not match its declared hash or length: fault `checksum_mismatch`. */
export function assertClaim({ staged, claimed = {} }: Pick<Received, 'staged' | 'claimed'>): void {
  if (claimed.length !== undefined && claimed.length !== staged.size) {
    throw fault('checksum_mismatch', {
      text: `${staged.size} bytes arrived instead of ${claimed.length}; nothing was stored.`,
    })
  }
  if (claimed.sha256 !== undefined && claimed.sha256 !== staged.sha256) throw fault('checksum_mismatch')
}

/** Bytes added to the acting account; the previous owner of a room's file gets theirs back. */
async function growthOf(tx: Writer, user: number, node: Node | undefined, size: number): Promise<number> {
  if (!node || node.user_id === user) return size - (node?.size ?? 0)
  await advance(tx, node.user_id, 0, -node.size)
  return size
}

/**
 * Writes a content to a location inside a transaction; creates missing parents and replaces a file, whose content stays
 * restorable. `claim` ensures that the content exists. Faults: `exists`, `precondition_failed`, `quota_exceeded`.
 */
export function makeStore({ clock, tree, bounds }: Pick<Parts, 'clock' | 'tree' | 'bounds'>) {
  return async function store(
    tx: Writer,
    spot: ResolvedPath,
    content: Content,
    {
      expectation = {},
      quota,
      claim,
    }: { expectation?: Expectation; quota: number; claim?: (now: number) => Promise<void> },
  ): Promise<Omit<Written, 'path'>> {
    const now = clock.now()
    const { parent, name, node, made } = await tree.ensureParents(tx, spot, now)
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
      await bounds.claim(tx, spot.user, 1)
      const place = { room_id: spot.room, parent_id: parent, name, name_key: nameKey(name), type: 'file' as const }
      id = await insertNode(tx, { ...place, ...file }, now)
    }
    const head = await recordNodes(tx, spot, [...made, id], growth, now)
    assertWithin(quota, head.used_bytes, growth)
    return { sha256, size, mtime, version: (node?.version ?? 0) + 1, cursor: head.seq }
  }
}

export const makeWrite = (parts: Parts) => {
  const { database, contents, tree, reach, allowance, history, flights } = parts
  const store = makeStore(parts)
  const { begin, keep, settle } = makeReceivedContents(parts)

  /** Tries the write in a transaction that is rolled back: refused contents never reach the blob store. */
  async function publish(staged: Staged, storing: Storing<unknown>, scope: WriteScope): Promise<void> {
    if (!staged.arrival) return
    const passed = new Error('Nothing speaks against it.')
    const trial = database.write(scope, async (tx) => {
      await storing(tx, { ...staged, arrived_at: Date.now() })
      throw passed
    })
    await trial.catch((error: unknown) => {
      if (error !== passed) throw error
    })
    await contents.publish(staged)
  }

  /** Writes a received content, as a step of a transaction, within the account's quota. */
  async function writeIn(tx: Writer, user: number, address: ParsedPath, received: Received, quota: number) {
    const { staged, mtime, expectation = {} } = received
    const spot = await reach.resolve(tx, user, address)
    const content = { sha256: staged.sha256, size: staged.size, mtime }
    return store(tx, spot, content, { expectation, quota, claim: (now) => contents.claim(tx, staged, now) })
  }

  return {
    writeIn,

    /** Ends the handling of a received content; called exactly once. `write` calls it itself. */
    settle,

    /** Marks a content as referenced, before `settle`. */
    keep,

    publish,

    /**
     * Refuses an upload by its length before its body is read: faults `bad_path`, `too_large`, `quota_exceeded`, and those
     * of the path. Checked again when it is stored. Returns its limits.
     */
    async admit(user: number, path: string, length: number): Promise<AdmittedUpload> {
      const address = reach.parse(path)
      const { maxFileSize: max } = await allowance()
      if (max >= 0 && length > max) throw tooLarge(max)
      const spot = await reach.resolve(database.read, user, address)
      const quota = await quotaOf(database.read, user, allowance)
      const refusal = () => quotaExceeded(quota)
      if (quota < 0) return { user, max: Infinity, quota, refusal }
      const { used_bytes: used } = (await headOf(database.read, user))!
      const node = await tree.find(database.read, spot)
      const replaced = node?.user_id === user ? node.size : 0
      assertWithin(quota, used + length - replaced, length - replaced)
      return { user, max: Math.max(replaced, quota - used + replaced), quota, refusal }
    },

    /** `write` or `settle` must follow. Faults: `too_large`, `quota_exceeded` as soon as the limit is exceeded. */
    async receive(source: AsyncIterable<Uint8Array>, upload?: AdmittedUpload): Promise<Staged> {
      const { maxFileSize: max } = await allowance()
      const { body, done } = flights.take(upload, source)
      try {
        const staged = await contents.receive(body, max < 0 ? Infinity : max)
        begin(staged, upload, done)
        return staged
      } catch (error) {
        done()
        throw error instanceof TooLarge ? tooLarge(max) : error
      }
    },

    /**
     * Writes a received content to a path; creates missing parents and replaces a file, whose content stays restorable.
     * Durable when it resolves. Faults: `bad_path`, `checksum_mismatch`, `exists`, `precondition_failed`, `quota_exceeded`.
     */
    async write(user: number, path: string, received: Received): Promise<Written> {
      try {
        const address = reach.parse(path)
        assertClaim(received)
        const quota = await quotaOf(database.read, user, allowance)
        const storing: Storing<Omit<Written, 'path'>> = (tx, staged) =>
          writeIn(tx, user, address, { ...received, staged }, quota)
        const scope = withContent(scopeOf(user, address), received.staged)
        await publish(received.staged, storing, scope)
        const written = await database.write(scope, (tx) => storing(tx, received.staged))
        keep(received.staged)
        // A new file leaves no version behind.
        await (written.version > 1 ? history.trim(user) : history.trimIfDue(user))
        return { path, ...written }
      } finally {
        await settle(received.staged)
      }
    },
  }
}

export type Write = ReturnType<typeof makeWrite>
