import { play } from './play.ts'
import type { Story } from './story.ts'
import type { World } from './world.ts'

/** What is broken, without what it is broken by: while a story gets shorter the problem has to stay the same. */
const kindOf = (problem: string | undefined): string | undefined => problem && /^I\d|^.{0,40}/.exec(problem)![0]

/**
 * Leaves out of a story that goes wrong what it does not need for that: ever smaller parts of what happens, and then the pauses
 * (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002).
 */
export async function shrink(world: World, story: Story, problem: string): Promise<Story> {
  const goesWrong = async (each: Story): Promise<boolean> =>
    kindOf((await play(world, each)).problem) === kindOf(problem)
  let best = story
  for (let size = Math.ceil(best.turns.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.turns.length;) {
      const shorter = { ...best, turns: best.turns.toSpliced(at, size) }
      if (await goesWrong(shorter)) best = shorter
      else at += size
    }
  }
  const simpler: Story[] = [
    { ...best, plain: false },
    { ...best, skew: { A: 0, B: 0 } },
  ]
  for (const each of simpler)
    if (await goesWrong({ ...each, turns: best.turns })) best = { ...best, ...each, turns: best.turns }
  for (const at of best.turns.keys()) {
    const turns = best.turns.with(at, { ...best.turns[at]!, pause: 0 })
    if (best.turns[at]!.pause > 0 && (await goesWrong({ ...best, turns }))) best = { ...best, turns }
  }
  return best
}
