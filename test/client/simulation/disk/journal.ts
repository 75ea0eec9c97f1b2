import type { Random } from '../../../support/random.ts'

// Names on a disk change in steps. A step is in the cache until its folder is flushed; what is in the cache when the power
// fails may be there afterwards or not.

/** One name in a folder that came to stand for something, or for nothing. Folders and what is in them go by their numbers. */
export interface Rename {
  folder: number
  name: string
  to: number | undefined
}

/** Names that change together or not at all. */
export interface Step {
  changes: readonly Rename[]
  /** Whether it outlasts a power cut. */
  stable: boolean
}

const keyOf = ({ folder, name }: Rename): string => `${folder}/${name}`

/** Makes a step durable with everything that it rests on: the folders over it, and where its things came from. */
export function settleStep(steps: readonly Step[], step: Step): void {
  const keys = new Set<string>()
  const things = new Set<number>()
  const take = (each: Step): void => {
    each.stable = true
    for (const change of each.changes) {
      keys.add(keyOf(change))
      things.add(change.folder)
      if (change.to !== undefined) things.add(change.to)
    }
  }
  take(step)
  for (const each of steps.toReversed()) {
    if (each.changes.some((change) => keys.has(keyOf(change)) || (change.to !== undefined && things.has(change.to))))
      take(each)
  }
}

/** Makes the names of one folder durable. */
export function settleFolder(steps: readonly Step[], folder: number): void {
  for (const step of steps) if (step.changes.some((change) => change.folder === folder)) step.stable = true
}

/**
 * What a power cut leaves of the steps. With a journal of the file system that is a beginning of all of them; without one each
 * folder keeps a beginning of its own.
 */
export function survivors(steps: readonly Step[], random: Random): Step[] {
  return random.below(2) === 0 ? inJournal(steps, random) : byFolder(steps, random)
}

const lastStable = (steps: readonly Step[]): number => steps.findLastIndex(({ stable }) => stable) + 1

function inJournal(steps: readonly Step[], random: Random): Step[] {
  const least = lastStable(steps)
  return steps.slice(0, least + random.below(steps.length - least + 1))
}

function byFolder(steps: readonly Step[], random: Random): Step[] {
  const folders = new Set(steps.flatMap(({ changes }) => changes.map(({ folder }) => folder)))
  const cuts = new Map<number, number>()
  for (const folder of folders) {
    const own = [...steps.keys()].filter((at) => steps[at]!.changes.some((change) => change.folder === folder))
    const unsure = own.filter((at) => !steps[at]!.stable)
    cuts.set(folder, unsure[random.below(unsure.length + 1)] ?? steps.length)
  }
  const isKept = (step: Step, at: number): boolean =>
    step.stable || step.changes.every(({ folder }) => at < cuts.get(folder)!)
  // A step that is lost in one folder takes with it what came after it in its others.
  for (let settled = false; !settled;) {
    settled = true
    for (const [at, step] of steps.entries()) {
      if (isKept(step, at)) continue
      for (const { folder } of step.changes) {
        if (cuts.get(folder)! <= at) continue
        cuts.set(folder, at)
        settled = false
      }
    }
  }
  return steps.filter(isKept)
}
