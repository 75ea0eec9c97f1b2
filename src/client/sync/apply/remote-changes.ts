import { contract } from '../../../contract/contract.ts'
import { errors, fault, type ErrorCode } from '../../../contract/errors.ts'
import { Changed } from '../sync-errors.ts'
import type { Op, OpOf } from '../plan/plan-builder.ts'
import { fallback } from '../remote/capabilities.ts'
import { assertGone, lstatPath } from '../local/file-operations.ts'
import type { SendBatch } from './executor.ts'
import type { Effect } from '../state/commit-batcher.ts'
import type { RemoteNode } from '../plan/sync-tree.ts'
import { folderRecords } from './file-upload.ts'
import type { RunContext } from '../run-context.ts'
import { toLocalPath } from '../../files/local-path.ts'

const { delete: remove, mkdir, files_batch: batch } = contract.syncFiles.actions

const repeatable = true

type MakeRemote = OpOf<'make-remote'>
type Removal = OpOf<'remove-remote'>

/** Creates a folder on the server with its missing parents. */
export async function makeRemoteFolder(context: RunContext, op: MakeRemote): Promise<Effect> {
  assertFolder(context, op)
  await context.throttle(mkdir, () =>
    context.api.call(mkdir, { path: op.there }, { signal: context.signal, repeatable }),
  )
  return made(context, op)
}

/** Creates folders on the server in one request. */
export const makeRemoteFolders = (context: RunContext): SendBatch<MakeRemote> =>
  makeBatchSender(context, assertFolder, made, ({ there }) => ({ op: 'mkdir', path: there }))

function assertFolder(context: RunContext, op: MakeRemote): void {
  if (lstatPath(toLocalPath(context.root, op.here))?.kind !== 'dir') throw new Changed('local')
}

function made(context: RunContext, op: MakeRemote): Effect {
  const node: RemoteNode = { kind: 'dir', path: op.there }
  context.remote.nodes.set(op.key, node)
  return {
    changes: [...folderRecords(context, op.key, op.there), { put: op.key, node: { kind: 'dir', path: op.there } }],
  }
}

/** Precondition of a deletion on the server: a file with the agreed content, or an empty folder. */
const conditionOf = ({ sha256 }: Removal) => (sha256 === undefined ? { if_empty: true } : { if_sha256: sha256 })

/** Deletes on the server what was deleted locally, after checking again that it is gone. */
export async function removeRemote(context: RunContext, op: Removal): Promise<Effect> {
  context.assertRoot()
  assertRemoved(context, op)
  const params = { path: op.there, ...conditionOf(op) }
  await context.throttle(remove, () => context.api.call(remove, params, { signal: context.signal, repeatable }))
  return removed(context, op)
}

/** Deletes on the server in one request, in order. */
export const removeRemoteBatch =
  (context: RunContext): SendBatch<Removal> =>
  async (ops, onResult) => {
    context.assertRoot()
    await makeBatchSender(context, assertRemoved, removed, (op: Removal) => ({
      op: 'delete',
      path: op.there,
      ...conditionOf(op),
    }))(ops, onResult)
  }

function assertRemoved(context: RunContext, op: Removal): void {
  const replaced =
    op.reason === 'replaced_here' &&
    lstatPath(toLocalPath(context.root, op.here))?.kind === (op.kind === 'file' ? 'dir' : 'file')
  if (!replaced) assertGone(context.root, op.here)
}

function removed(context: RunContext, op: Removal): Effect {
  context.remote.nodes.delete(op.key)
  context.known.delete(op.key)
  return { changes: [{ drop: op.key }] }
}

type Wire = { op: string; path?: string; from?: string; to?: string; if_sha256?: string; if_empty?: boolean }

/** Applies changes on the server in one request. `check` throws for those that no longer apply. */
export const makeBatchSender =
  <O extends Op>(
    context: RunContext,
    check: (context: RunContext, op: O) => void,
    effectOf: (context: RunContext, op: O) => Effect,
    wireOf: (op: O) => Wire,
  ): SendBatch<O> =>
  async (ops, onResult) => {
    if (!context.capabilities.files_batch || ops.length < 2) return
    const asked: O[] = []
    for (const op of ops) {
      try {
        check(context, op)
        asked.push(op)
      } catch (error) {
        onResult(op, { error })
      }
    }
    if (asked.length === 0) return
    try {
      const operations = asked.map(wireOf)
      const { results } = await context.throttle(batch, () =>
        context.api.call(batch, { operations }, { signal: context.signal, repeatable }),
      )
      for (const [index, op] of asked.entries()) {
        const answer = readResult(Array.isArray(results) ? results[index] : undefined, index)
        if (answer === 'done') onResult(op, { effect: effectOf(context, op) })
        else if (answer) onResult(op, { error: answer })
      }
    } catch (error) {
      const instead = fallback(context.capabilities, 'files_batch', error)
      if (instead === 'alone') return
      for (const op of asked) onResult(op, { error: instead === 'again' ? new Changed('remote', error) : error })
    }
  }

/** The server's error for one change; undefined if it should be tried alone. */
function readResult(result: unknown, index: number): 'done' | Error | undefined {
  const { index: about, ok, code, error: text } = (result ?? {}) as Record<string, unknown>
  if (about !== index) return undefined
  if (ok === true) return 'done'
  if (typeof code !== 'string' || !Object.hasOwn(errors, code) || code === 'bad_request' || code === 'internal') {
    return undefined
  }
  return fault(code as ErrorCode, typeof text === 'string' ? { text } : {})
}
