import { contract } from '../../contract/contract.ts'
import { isFault } from '../../contract/errors.ts'
import { Changed } from './changed.ts'
import type { OpOf } from './draft.ts'
import { placeOf } from './paths.ts'
import { assertGone, see } from './placing.ts'
import type { Effect } from './settle.ts'
import type { RemoteNode } from './tree.ts'
import { folderRecords } from './upload.ts'
import type { Work } from './work.ts'

const { delete: remove, mkdir } = contract.syncFiles.actions

const repeatable = true

/** Makes a folder on the server, with those over it that are missing. */
export async function makeFolderThere(work: Work, op: OpOf<'make-remote'>): Promise<Effect> {
  if (see(placeOf(work.root, op.here))?.kind !== 'dir') throw new Changed('here')
  await onServer(() =>
    work.pace(mkdir, () => work.api.call(mkdir, { path: op.there }, { signal: work.signal, repeatable })),
  )
  const node: RemoteNode = { kind: 'dir', path: op.there }
  work.remote.nodes.set(op.key, node)
  return { changes: [...folderRecords(work, op.key, op.there), { put: op.key, node: { kind: 'dir', path: op.there } }] }
}

/**
 * Deletes on the server what was deleted here: a file only with the content both sides agreed on, a folder only when it is
 * empty. Looks once more that it is really gone here.
 */
export async function removeThere(work: Work, op: OpOf<'remove-remote'>): Promise<Effect> {
  work.assertRoot()
  const replaced =
    op.reason === 'replaced_here' && see(placeOf(work.root, op.here))?.kind === (op.kind === 'file' ? 'dir' : 'file')
  if (!replaced) assertGone(work.root, op.here)
  const condition = op.sha256 === undefined ? { if_empty: true } : { if_sha256: op.sha256 }
  await onServer(() =>
    work.pace(remove, () =>
      work.api.call(remove, { path: op.there, ...condition }, { signal: work.signal, repeatable }),
    ),
  )
  work.remote.nodes.delete(op.key)
  work.known.delete(op.key)
  return { changes: [{ drop: op.key }] }
}

/** Answers that say that the account is not as the plan saw it. */
async function onServer(request: () => Promise<unknown>): Promise<void> {
  try {
    await request()
  } catch (error) {
    for (const code of ['precondition_failed', 'not_empty', 'exists', 'conflict', 'not_found'] as const) {
      if (isFault(error, code)) throw new Changed('there', error)
    }
    throw error
  }
}
