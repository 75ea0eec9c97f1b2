import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomHex } from '../../base/random.ts'
import { isFault } from '../../contract/errors.ts'
import { contract } from '../../contract/contract.ts'
import { Changed } from './changed.ts'
import type { OpOf } from './draft.ts'
import { assertArrived, assertSource, followed, makeFoldersOver, requestMove } from './moving.ts'
import { conflictName, placeOf, TEMPORARY } from './paths.ts'
import { bringBack, see, tidyTrash, trashPlace } from './placing.ts'
import type { Effect } from './settle.ts'
import type { Change, Intent } from './state.ts'
import { childOf, nameOf, parentOf } from './tree.ts'
import type { Work } from './work.ts'

// Things that take each other's places, or change only the case of their names where that is no other name, first all go to a
// place of their own and then all to where they belong. Each step is written down before it is made: a run that is cut off in the
// first half is taken back by the next, in the second half it is brought to its end.

export type Parked = Extract<Intent, { kind: 'park' }>

const action = contract.syncFiles.actions.move

/** Renames files and folders here that take each other's places, as they did on the server. */
export async function rotateHere(work: Work, ops: readonly OpOf<'move-local'>[]): Promise<Effect> {
  for (const op of ops) assertSource(work, op)
  const parked = ops.map((op): Parked => ({
    kind: 'park',
    key: op.from.key,
    side: 'here',
    from: op.from.here,
    to: op.here,
    at: trashPlace(work.root, work.run, op.from.here),
    placing: false,
  }))
  await rotate(work, parked, {
    park({ from, at }, index) {
      assertSource(work, ops[index]!)
      renameSync(placeOf(work.root, from), at)
    },
    async place({ at, to }) {
      makeFoldersOver(work.root, to)
      await bringBack(at, placeOf(work.root, to))
    },
  })
  for (const { at } of parked) tidyTrash(work.root, dirname(at))
  const folders = ops.flatMap(({ from, here }) => [from.here, here].map((path) => dirname(placeOf(work.root, path))))
  return { folders, changes: [...followed(work, ops), ...ended(parked)] }
}

/** Moves files and folders on the server that took each other's places here. */
export async function rotateThere(work: Work, ops: readonly OpOf<'move-remote'>[]): Promise<Effect> {
  work.assertRoot()
  for (const op of ops) assertArrived(work, op)
  const parked = ops.map((op): Parked => ({
    kind: 'park',
    key: op.from.key,
    side: 'there',
    from: op.from.there,
    to: op.there,
    at: `/${temporaryName(nameOf(op.from.there))}`,
    placing: false,
  }))
  await rotate(work, parked, {
    park: ({ from, at }, index) => requestMove(work, from, at, ops[index]!.sha256),
    place: ({ at, to }) => requestMove(work, at, to),
  })
  return { changes: [...followed(work, ops), ...ended(parked)] }
}

/** A name that no client synchronises, and that still tells what it stands for. */
const temporaryName = (name: string): string => `${TEMPORARY}${randomHex(6)}-${Array.from(name).slice(-50).join('')}`

interface Steps {
  park: (parked: Parked, index: number) => Promise<void> | void
  place: (parked: Parked) => Promise<void> | void
}

async function rotate(work: Work, parked: readonly Parked[], { park, place }: Steps): Promise<void> {
  let written = parked
  try {
    await work.settle.now({ changes: written.map((begin) => ({ begin })) })
    for (const [index, each] of parked.entries()) await park(each, index)
    written = parked.map((each) => ({ ...each, placing: true }))
    await work.settle.now({ changes: written.map((begin) => ({ begin })) })
    for (const each of parked) await place(each)
  } catch (error) {
    for (const each of written) await work.settle.now(await unpark(work, each))
    throw error
  }
}

const ended = (parked: readonly Parked[]): Change[] => parked.map(({ key }) => ({ end: key }))

type Finishing = Pick<Work, 'root' | 'assertRoot' | 'api' | 'pace' | 'signal' | 'device' | 'date'>

/** Brings what stands apart to where it belongs: back, or on to its new place. Where that is taken, it stands beside it as a conflict copy. */
export async function unpark(work: Finishing, parked: Parked): Promise<Effect> {
  const goal = parked.placing ? parked.to : parked.from
  const changes: Change[] = [{ end: parked.key }]
  if (parked.side === 'here') return { folders: await unparkHere(work, parked.at, goal), changes }
  await unparkThere(work, parked.at, goal)
  return { changes }
}

/** Names to try, one after another: the goal itself, then copies of it. */
function* namesFor({ device, date }: Finishing, goal: string): Generator<string> {
  yield goal
  for (let attempt = 1; ; attempt += 1) {
    yield childOf(parentOf(goal), conflictName({ name: nameOf(goal), device, date, sha256: randomHex(4), attempt }))
  }
}

/** Returns the folders in which names changed. */
async function unparkHere(work: Finishing, at: string, goal: string): Promise<string[]> {
  // On a disk that is away nothing is to be seen either.
  work.assertRoot()
  if (!see(at)) return []
  for (const path of namesFor(work, goal)) {
    try {
      const folders = makeFoldersOver(work.root, path)
      const place = placeOf(work.root, path)
      await bringBack(at, place)
      tidyTrash(work.root, dirname(at))
      return [...folders, dirname(place)]
    } catch (error) {
      if (!(error instanceof Changed)) throw error
    }
  }
  return []
}

async function unparkThere(work: Finishing, at: string, goal: string): Promise<void> {
  for (const to of namesFor(work, goal)) {
    try {
      await work.pace(action, () => work.api.call(action, { from: at, to }, { signal: work.signal }))
      return
    } catch (error) {
      // It was never taken there, or is not there any more.
      if (isFault(error, 'not_found')) return
      if (!isFault(error, 'exists')) throw error
    }
  }
}
