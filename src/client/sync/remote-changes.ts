import { contract } from '../../contract/contract.ts'
import { errors, fault, type ErrorCode } from '../../contract/errors.ts'
import { Changed } from './changed.ts'
import type { Op, OpOf } from './draft.ts'
import { fallback } from './offers.ts'
import { placeOf } from './paths.ts'
import { assertGone, see } from './placing.ts'
import type { Carry } from './runner.ts'
import type { Effect } from './settle.ts'
import type { RemoteNode } from './tree.ts'
import { folderRecords } from './upload.ts'
import type { Work } from './work.ts'

const { delete: remove, mkdir, files_batch: batch } = contract.syncFiles.actions

const repeatable = true

type Making = OpOf<'make-remote'>
type Removal = OpOf<'remove-remote'>

/** Makes a folder on the server, with those over it that are missing. */
export async function makeFolderThere(work: Work, op: Making): Promise<Effect> {
  assertFolder(work, op)
  await work.pace(mkdir, () => work.api.call(mkdir, { path: op.there }, { signal: work.signal, repeatable }))
  return made(work, op)
}

/** Makes folders on the server in one request. */
export const makeFoldersThere = (work: Work): Carry<Making> =>
  carry(work, assertFolder, made, ({ there }) => ({ op: 'mkdir', path: there }))

function assertFolder(work: Work, op: Making): void {
  if (see(placeOf(work.root, op.here))?.kind !== 'dir') throw new Changed('here')
}

function made(work: Work, op: Making): Effect {
  const node: RemoteNode = { kind: 'dir', path: op.there }
  work.remote.nodes.set(op.key, node)
  return { changes: [...folderRecords(work, op.key, op.there), { put: op.key, node: { kind: 'dir', path: op.there } }] }
}

/** What the server has to find for a deletion: a file only with the content both sides agreed on, a folder only when it is empty. */
const conditionOf = ({ sha256 }: Removal) => (sha256 === undefined ? { if_empty: true } : { if_sha256: sha256 })

/** Deletes on the server what was deleted here. Looks once more that it is really gone here. */
export async function removeThere(work: Work, op: Removal): Promise<Effect> {
  work.assertRoot()
  assertRemoved(work, op)
  const params = { path: op.there, ...conditionOf(op) }
  await work.pace(remove, () => work.api.call(remove, params, { signal: work.signal, repeatable }))
  return removed(work, op)
}

/** Deletes on the server in one request, in order. */
export const removeAllThere =
  (work: Work): Carry<Removal> =>
  async (ops, tell) => {
    work.assertRoot()
    await carry(work, assertRemoved, removed, (op: Removal) => ({ op: 'delete', path: op.there, ...conditionOf(op) }))(
      ops,
      tell,
    )
  }

function assertRemoved(work: Work, op: Removal): void {
  const replaced =
    op.reason === 'replaced_here' && see(placeOf(work.root, op.here))?.kind === (op.kind === 'file' ? 'dir' : 'file')
  if (!replaced) assertGone(work.root, op.here)
}

function removed(work: Work, op: Removal): Effect {
  work.remote.nodes.delete(op.key)
  work.known.delete(op.key)
  return { changes: [{ drop: op.key }] }
}

type Wire = { op: string; path?: string; from?: string; to?: string; if_sha256?: string; if_empty?: boolean }

/** Does changes on the server in one request. `check` throws where one is not to be asked for any more. */
export const carry =
  <O extends Op>(
    work: Work,
    check: (work: Work, op: O) => void,
    effectOf: (work: Work, op: O) => Effect,
    wireOf: (op: O) => Wire,
  ): Carry<O> =>
  async (ops, tell) => {
    if (!work.offers.files_batch || ops.length < 2) return
    const asked: O[] = []
    for (const op of ops) {
      try {
        check(work, op)
        asked.push(op)
      } catch (error) {
        tell(op, { error })
      }
    }
    if (asked.length === 0) return
    try {
      const operations = asked.map(wireOf)
      const { results } = await work.pace(batch, () =>
        work.api.call(batch, { operations }, { signal: work.signal, repeatable }),
      )
      for (const [index, op] of asked.entries()) {
        const answer = verdictOn(Array.isArray(results) ? results[index] : undefined, index)
        if (answer === 'done') tell(op, { effect: effectOf(work, op) })
        else if (answer) tell(op, { error: answer })
      }
    } catch (error) {
      const instead = fallback(work.offers, 'files_batch', error)
      if (instead === 'alone') return
      for (const op of asked) tell(op, { error: instead === 'again' ? new Changed('there', error) : error })
    }
  }

/** What a server says of one change; undefined when it may fare better on its own. */
function verdictOn(result: unknown, index: number): 'done' | Error | undefined {
  const { index: about, ok, code, error: text } = (result ?? {}) as Record<string, unknown>
  if (about !== index) return undefined
  if (ok === true) return 'done'
  if (typeof code !== 'string' || !Object.hasOwn(errors, code) || code === 'bad_request' || code === 'internal') {
    return undefined
  }
  return fault(code as ErrorCode, typeof text === 'string' ? { text } : {})
}
