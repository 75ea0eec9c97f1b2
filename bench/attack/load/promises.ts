import type { Result } from './run.ts'

/** Largest 99th percentile of the response time of others, and longest event loop delay, ms. */
export const MOST_WAIT = 250
const MOST_STALL = 200

/** Minimum number of responses to others during an attack; a blocked server gives none. */
const LEAST_ANSWERS = 1

/**
 * Limits for machines of any speed: a multiple of the longest times without an attack, but at least these, ms. A
 * blocked server takes far longer.
 */
const FACTOR = 30
const LEAST_BOUND = 4_000

const ms = (value: number): string => `${Math.round(value)} ms`

const always = ({ unexpected, failures }: Result): string[] => [
  ...unexpected,
  ...failures.map((failure) => `somebody else failed: ${failure}`),
]

/** Broken promises on an idle machine. */
export function brokenPromises(result: Result): string[] {
  const { health, writes, stall } = result
  return [
    ...always(result),
    ...(health.p99 > MOST_WAIT ? [`/healthz takes ${ms(health.p99)} (99th percentile)`] : []),
    ...(writes.p99 > MOST_WAIT ? [`a small write takes ${ms(writes.p99)} (99th percentile)`] : []),
    ...(stall >= MOST_STALL ? [`the event loop stands still for ${ms(stall)}`] : []),
  ]
}

/** Broken promises on any machine, relative to `idle`. */
export function brokenAnywhere(result: Result, idle: Result): string[] {
  const { health, writes, stall } = result
  const longest = Math.max(idle.health.longest, idle.writes.longest, idle.stall)
  const bound = Math.max(LEAST_BOUND, longest * FACTOR)
  return [
    ...always(result),
    ...(health.answered < LEAST_ANSWERS ? ['/healthz does not answer'] : []),
    ...(writes.answered < LEAST_ANSWERS ? ['nobody else can write'] : []),
    ...(health.longest > bound ? [`/healthz takes ${ms(health.longest)}`] : []),
    ...(writes.longest > bound ? [`a small write takes ${ms(writes.longest)}`] : []),
    ...(stall > bound ? [`the event loop stands still for ${ms(stall)}`] : []),
  ]
}

/** One line of output. */
export function lineOf({ name, outcomes, health, writes, stall }: Result): string {
  const requests = [...outcomes.values()].reduce((sum, count) => sum + count, 0)
  const latency = ({ p50, p99, longest }: Result['health']) =>
    [p50, p99, longest].map((value) => (value < 10 ? value.toFixed(1) : value.toFixed(0))).join('/')
  const how = [...outcomes].map(([outcome, count]) => `${count}× ${outcome}`).join(', ')
  return `${name.padEnd(17)} ${String(requests).padStart(5)} requests  /healthz ${latency(health)} ms  write ${latency(writes)} ms  stall ${stall.toFixed(0)} ms  ${how}`
}
