import { heavy } from './attack/load/scenarios.ts'
import { MOST_WAIT } from './attack/load/promises.ts'
import { playScenarios } from './attack/load/run.ts'
import type { Figure } from './figure.ts'

const SECONDS = 5

/** Response time of others while one account sends its most expensive requests: the worst 99th percentile. */
export const othersMeanwhile: Figure = {
  name: 'others-meanwhile',
  unit: 'ms',
  peer: 'the limit for /healthz and a small write while one account does the heaviest it may',
  wanted: { most: 1 },
  async measure(workspace) {
    const [idle, ...results] = await playScenarios(workspace, heavy, {
      seconds: SECONDS,
      isShort: false,
      onResult: () => undefined,
    })
    const failure = results.flatMap(({ failures }) => failures)[0]
    if (failure !== undefined) throw new Error(`Somebody else failed: ${failure}`)
    const waitOf = ({ health, writes }: (typeof results)[number]) => Math.max(health.p99, writes.p99)
    const worst = results.toSorted((a, b) => waitOf(b) - waitOf(a))[0]!
    const note = `longest during ${worst.name}; without load ${Math.round(waitOf(idle!))} ms; longest stall of the event loop ${Math.round(Math.max(...results.map(({ stall }) => stall)))} ms`
    return { ours: [waitOf(worst)], peer: [MOST_WAIT], note }
  },
}
