import { badRequest, fault, Fault, isFault } from '../../contract/errors.ts'
import { FILES_BATCH, LATEST_MTIME, UPLOAD_BATCH } from '../../contract/limits.ts'
import type { FileState } from '../../contract/shapes.ts'
import { headOf } from '../../storage/feed/changes.ts'
import type { Staged } from '../../storage/contents/contents.ts'
import type { Database, OwnerScope, Writer, WriteScope } from '../../storage/engine/database.ts'
import type { Change } from './change.ts'
import type { History } from './history.ts'
import type { Jobs } from './file-parts.ts'
import { scopeOf, withContent, type PathResolver } from './path-resolver.ts'
import { quotaExceeded, quotaOf, type Allowance } from './allowance.ts'
import { assertClaim, type Write } from './write.ts'

/** An entry of an uploaded archive. */
export interface FileEntry {
  path: string
  kind: 'file' | 'directory' | 'other'
  /** Seconds. */
  mtime: number
  /** Declared SHA-256 of the content. */
  sha256: string | undefined
  /** SHA-256 of the file to replace, or `absent`. */
  ifSha256: string | undefined
  body: AsyncIterable<Uint8Array>
}

/** One operation of a batch, not validated: a missing field fails only this operation. */
export interface Operation {
  op: string
  path?: string
  from?: string
  to?: string
  if_sha256?: string
  if_empty?: boolean
}

/** The result of one entry. */
export interface Outcome {
  index: number
  path: string
  ok: boolean
  status: number
  code?: string
  error?: string
  /** With `precondition_failed`: the current file, null if there is none. */
  current?: FileState | null
}

/** The step of an entry in its transaction, or the fault that prevents it. */
type Step = ((tx: Writer) => Promise<unknown>) | Fault

/** A step with its received content. */
interface Prepared {
  path: string
  step: Step
  scope: WriteScope
  staged?: Staged | undefined
  /** The same step with another content. */
  storing?: (tx: Writer, staged: Staged) => Promise<unknown>
}

/** Entries per commit. */
const GROUP = 100

const HASH = /^[0-9a-f]{64}$/

interface Parts {
  database: Database
  reach: PathResolver
  allowance: () => Promise<Allowance>
  write: Write
  change: Change
  jobs: Jobs
  history: Pick<History, 'grown'>
}

function outcome(index: number, path: string, refused?: Fault): Outcome {
  if (!refused) return { index, path, ok: true, status: 200 }
  const { status, code, message: error, extra } = refused
  const current = extra.fields?.['current'] as FileState | null | undefined
  return { index, path, ok: false, status, code, error, ...(current === undefined ? {} : { current }) }
}

/** Returns the result of `make`, or the fault it throws: a fault fails only one entry. */
async function orFault<T>(make: () => T | Promise<T>): Promise<T | Fault> {
  try {
    return await make()
  } catch (error) {
    if (isFault(error)) return error
    throw error
  }
}

function expectationOf(ifSha256: string | undefined) {
  if (ifSha256 === undefined) return {}
  if (ifSha256 === 'absent') return { absent: true }
  if (!HASH.test(ifSha256)) throw badRequest('SVC.if_sha256', 'must be a SHA-256 in hex or "absent"')
  return { sha256: ifSha256 }
}

/** Validates an operation and returns its step with what that writes. Throws the operation's faults. */
async function stepFor(
  { reach, change }: Pick<Parts, 'reach' | 'change'>,
  user: number,
  { op, path, from, to, if_sha256: sha256, if_empty: ifEmpty }: Operation,
): Promise<Pick<Prepared, 'scope' | 'step'>> {
  if (sha256 !== undefined && !HASH.test(sha256)) throw badRequest('if_sha256', 'must be a SHA-256 in hex')
  const given = (name: string, text: string | undefined) => {
    if (text === undefined) throw badRequest(name, 'is missing')
    return reach.parse(text)
  }
  if (op === 'delete') {
    const address = given('path', path)
    return { scope: scopeOf(user, address), step: (tx) => change.removeIn(tx, user, address, { sha256, ifEmpty }) }
  }
  if (op === 'mkdir') {
    const address = given('path', path)
    return { scope: scopeOf(user, address), step: (tx) => change.makeFolderIn(tx, user, address) }
  }
  if (op !== 'move') throw badRequest('op', 'must be "delete", "mkdir" or "move"')
  const [source, target] = [given('from', from), given('to', to)]
  const measured = await change.measure(user, source)
  const step: Step = (tx) => change.moveIn(tx, user, source, target, { sha256, measured })
  return { scope: scopeOf(user, source, target), step }
}

/** The step of an operation, or its fault. */
async function plan(parts: Pick<Parts, 'reach' | 'change'>, user: number, operation: Operation): Promise<Prepared> {
  const path = operation.path ?? operation.from ?? ''
  const planned = await orFault(() => stepFor(parts, user, operation))
  return planned instanceof Fault ? { path, scope: {}, step: planned } : { path, ...planned }
}

function commonScope(steps: readonly Prepared[]): WriteScope {
  const owned: OwnerScope[] = []
  for (const { step, scope } of steps) {
    if (step instanceof Fault) continue
    if (scope === 'instance') return scope
    owned.push(scope)
  }
  return { ...owned[0], keys: owned.flatMap(({ keys = [] }) => keys) }
}

/** Commits groups of prepared entries; each entry succeeds or fails on its own. */
function makeRun({ database, write }: Pick<Parts, 'database' | 'write'>) {
  /** Runs the steps of one group, in order. */
  async function run(steps: readonly Prepared[], first: number): Promise<Outcome[]> {
    try {
      const outcomes = await commit(steps, first)
      for (const [offset, { ok }] of outcomes.entries()) {
        const { staged } = steps[offset]!
        if (ok && staged) write.keep(staged)
      }
      return outcomes
    } finally {
      for (const { staged } of steps) if (staged) await write.settle(staged)
    }
  }

  async function commit(steps: readonly Prepared[], first: number): Promise<Outcome[]> {
    return database.write(commonScope(steps), async (tx) => {
      const inOrder = async (attempt: (step: () => Promise<unknown>) => Promise<unknown>) => {
        const done: Outcome[] = []
        for (const [offset, { path, step }] of steps.entries()) {
          const refused = step instanceof Fault ? step : await attempt(() => step(tx))
          done.push(outcome(first + offset, path, refused instanceof Fault ? refused : undefined))
        }
        return done
      }
      // Usually none is refused, so all run without savepoints first; if one is refused, all run again with a savepoint
      // each.
      const together = await orFault(() => tx.attempt(() => inOrder((step) => step())))
      return together instanceof Fault ? inOrder((step) => orFault(() => tx.attempt(step))) : together
    })
  }

  return run
}

/** Publishes or refuses a large content. Flushes earlier entries first: it is checked against the current tree. */
async function publish(write: Write, prepared: Prepared, flush: () => Promise<void>): Promise<Prepared> {
  const { scope, staged, storing } = prepared
  if (!staged?.arrival || !storing) return prepared
  try {
    await flush()
    const refused = await orFault(() => write.publish(staged, storing, scope))
    if (!(refused instanceof Fault)) return prepared
    await write.settle(staged)
    return { ...prepared, staged: undefined, step: refused }
  } catch (error) {
    await write.settle(staged)
    throw error
  }
}

/** Batches of changes. Each entry succeeds or fails on its own; a group shares one commit. */
export const makeBatches = ({ database, reach, allowance, write, change, jobs, history }: Parts) => {
  const run = makeRun({ database, write })
  const cursorOf = async (user: number) => (await headOf(database.read, user))!.seq

  /** Receives an entry's content and returns its step. */
  async function prepare(user: number, entry: FileEntry, quota: number): Promise<Prepared> {
    const { path, kind, mtime, sha256, ifSha256, body } = entry
    const address = reach.parse(path)
    const scope = scopeOf(user, address)
    if (kind === 'directory') return { path, scope, step: (tx) => change.makeFolderIn(tx, user, address) }
    if (kind === 'other') throw fault('bad_request', { text: 'Only files and folders can be uploaded.' })
    if (mtime > LATEST_MTIME) throw badRequest('mtime', 'is too far in the future')
    if (sha256 !== undefined && !HASH.test(sha256)) throw badRequest('SVC.sha256', 'must be a SHA-256 in hex')
    const expectation = expectationOf(ifSha256)
    const staged = await write.receive(body, {
      user,
      max: quota < 0 ? Infinity : quota,
      quota,
      refusal: () => quotaExceeded(quota),
    })
    try {
      assertClaim({ staged, claimed: { sha256 } })
    } catch (error) {
      await write.settle(staged)
      throw error
    }
    const storing = (tx: Writer, content: Staged) =>
      write.writeIn(tx, user, address, { staged: content, mtime, expectation }, quota)
    return { path, scope: withContent(scope, staged), staged, storing, step: (tx) => storing(tx, staged) }
  }

  return {
    /**
     * Stores the entries of an archive as they arrive. A fault of the archive itself ends the upload; earlier entries stay
     * stored and are listed in the fault's `results`. Faults: `too_many_operations`, and those of the source.
     */
    async uploadAll(user: number, entries: AsyncIterable<FileEntry>): Promise<{ results: Outcome[]; cursor: number }> {
      const quota = await quotaOf(database.read, user, allowance)
      const results: Outcome[] = []
      let group: Prepared[] = []
      const flush = async () => {
        // Taken first: a group whose commit is refused as a whole is not tried again.
        const flushed = group
        group = []
        if (flushed.length === 0) return
        results.push(...(await run(flushed, results.length)))
        const bytes = flushed.reduce((sum, { staged }) => sum + (staged?.size ?? 0), 0)
        await history.grown(user, bytes)
      }
      try {
        for await (const entry of entries) {
          if (results.length + group.length >= UPLOAD_BATCH.max_entries) throw fault('too_many_operations')
          const prepared = await orFault(() => prepare(user, entry, quota))
          const ready =
            prepared instanceof Fault
              ? { path: entry.path, scope: {}, step: prepared }
              : await publish(write, prepared, flush)
          group.push(ready)
          // Commit a large content at once, so that it does not delay the account's other uploads.
          if (group.length >= GROUP || ready.staged?.arrival) await flush()
        }
        await flush()
      } catch (error) {
        if (!isFault(error)) {
          for (const { staged } of group) if (staged) await write.settle(staged)
          throw error
        }
        await flush()
        throw fault(error.code, { ...error.extra, text: error.message, fields: { ...error.extra.fields, results } })
      }
      await jobs.finish(user)
      return { results, cursor: await cursorOf(user) }
    },

    /** Executes operations in order. Fault `too_many_operations`, with nothing changed. */
    async changeAll(user: number, operations: Operation[]): Promise<{ results: Outcome[]; cursor: number }> {
      if (operations.length > FILES_BATCH.max_operations) throw fault('too_many_operations')
      const results: Outcome[] = []
      for (let first = 0; first < operations.length; first += GROUP) {
        const group = operations
          .slice(first, first + GROUP)
          .map((operation) => plan({ reach, change }, user, operation))
        results.push(...(await run(await Promise.all(group), first)))
      }
      await jobs.finish(user)
      return { results, cursor: await cursorOf(user) }
    },
  }
}
