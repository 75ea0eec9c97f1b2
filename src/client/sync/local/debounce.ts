/** A hint that something changed: a local edit, something deleted, or a change on the server. */
export type ChangeHint = 'edit' | 'gone' | 'news'

/** Quiet period before a run, and its limit, ms. Longer for programs that save by deleting and rewriting. */
const QUIET: Record<ChangeHint, { quiet: number; most: number }> = {
  edit: { quiet: 400, most: 1_500 },
  news: { quiet: 100, most: 1_500 },
  gone: { quiet: 1_500, most: 3_000 },
}

/** Debounces change hints and decides when a run is due. Hints carry no data: the run scans for itself. */
export function makeDebounce() {
  let first: number | undefined
  let quiet = 0
  let most = 0
  return {
    /** `now` is in milliseconds of a monotonic clock. */
    add(sign: ChangeHint, now: number): void {
      if (first === undefined) [first, quiet, most] = [now, now, 0]
      quiet = Math.max(quiet, now + QUIET[sign].quiet)
      most = Math.max(most, QUIET[sign].most)
    },
    /** When to run, by the clock of `add`; undefined while there is no reason to. */
    due: (): number | undefined => (first === undefined ? undefined : Math.min(quiet, first + most)),
    clear: (): void => void (first = undefined),
  }
}
