import type { Clock } from '../../base/clock.ts'
import { fault, isFault } from '../../contract/errors.ts'
import type { Writer } from '../../storage/engine/database.ts'
import { versionsOf } from '../../storage/files/versions.ts'
import { makePathLookup, markOf, TOO_LARGE_TO_COMPARE, type FileChange } from './file-change.ts'
import { makeSteps, type StepParts } from './undoable-steps.ts'
import { foldersFor } from './room-folders.ts'
import { pathIn, type makeTrash } from './trash.ts'
import { quotaOf } from './allowance.ts'
import { makeStore } from './write.ts'

interface Parts extends StepParts {
  clock: Clock
  trash: Pick<ReturnType<typeof makeTrash>, 'restoreIn'>
}

const changed = () => fault('conflict', { text: 'It has changed since.' })

/**
 * Undoable changes of trees, each a step of a transaction that returns what it changed. Faults are those of the plain
 * changes; undo adds `conflict` if the object changed since, and `gone` if the old state is no longer stored.
 */
export function makeUndoableChanges(parts: Parts) {
  const { allowance, trash } = parts
  const lookup = makePathLookup(parts)
  const { lookUp, made } = lookup
  const steps = makeSteps(parts, lookup)
  const store = makeStore(parts)

  async function restoreContent(tx: Writer, user: number, change: FileChange & { kind: 'written' }) {
    const { path, before, after } = change
    const { spot, node } = await lookUp(tx, user, path)
    if (node?.id !== change.node || node.sha256 !== after.sha256) throw changed()
    const kept = (await versionsOf(tx, node.id)).some(({ sha256 }) => sha256 === before.sha256)
    if (!kept && before.sha256 !== after.sha256) throw fault('gone', { text: 'Its earlier content is no longer kept.' })
    await store(tx, spot, before, { quota: await quotaOf(tx, user, allowance) })
    return [{ ...change, before: after, after: before }]
  }

  /** Undoes a change; returns the changes it made, which can be undone in turn. */
  async function undo(tx: Writer, user: number, change: FileChange): Promise<FileChange[]> {
    const { path } = change
    switch (change.kind) {
      case 'written':
        return restoreContent(tx, user, change)
      case 'made': {
        const { node } = await lookUp(tx, user, path)
        if (node?.id !== change.node) throw changed()
        const mark = await markOf(tx, node)
        if (mark === TOO_LARGE_TO_COMPARE || mark !== change.mark) throw changed()
        return steps.trash(tx, user, path)
      }
      case 'moved': {
        const { node } = await lookUp(tx, user, path)
        if (node?.id !== change.node) throw changed()
        return steps.move(tx, user, path, change.from)
      }
      case 'trashed': {
        const restored = await trash.restoreIn(tx, user, change.entry, undefined).catch((error: unknown) => {
          throw isFault(error, 'not_found') ? fault('gone', { text: 'It is no longer in the trash.' }) : error
        })
        return [await made(tx, user, pathIn(await foldersFor(tx, user), restored))]
      }
    }
  }

  return { ...steps, undo }
}
