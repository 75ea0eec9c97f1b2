import process from 'node:process'

/** One step is what a short loop needs for a million characters. */
const TEXT = 'abcdefghij'.repeat(100_000)

function count(): number {
  let found = 0
  for (let at = 0; at < TEXT.length; at += 1) if (TEXT.charCodeAt(at) === 97) found += 1
  return found
}

/** Microseconds of the processor that this process used. */
async function used(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/**
 * How many steps of a loop over a million characters take as much of the processor as the work. Neither the speed of the
 * machine nor what else runs on it matters, unlike for a time.
 */
export async function stepsOf(work: () => unknown): Promise<number> {
  const steps = await used(work)
  const samples: number[] = []
  for (let sample = 0; sample < 20; sample += 1) samples.push(await used(count))
  return steps / Math.min(...samples)
}
