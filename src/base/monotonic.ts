interface NodeGlobal {
  process?: { hrtime?: () => [seconds: number, nanoseconds: number] }
}

/**
 * Milliseconds of a clock that nobody sets, from any moment on. Not `performance`: Node loads that when it is first used, which takes
 * longer than most of what short commands do.
 */
export function monotonicMs(): number {
  const time = (globalThis as NodeGlobal).process?.hrtime?.()
  return time ? time[0] * 1_000 + time[1] / 1e6 : performance.now()
}
