/** Something that may have changed: an edit, something that went away, or news from the server. */
export type Sign = 'edit' | 'gone' | 'news'

/**
 * How long it must have been quiet before a run, and how long it is put off at most, in milliseconds. Programs that save by deleting
 * and writing anew get a little longer, so that no run falls between the two.
 */
const QUIET: Record<Sign, { quiet: number; most: number }> = {
  edit: { quiet: 400, most: 1_500 },
  news: { quiet: 100, most: 1_500 },
  gone: { quiet: 1_500, most: 3_000 },
}

/** Decides when signs of change are followed by a run. They carry no truth: the run looks for itself. */
export function makeSettling() {
  let first: number | undefined
  let quiet = 0
  let most = 0
  return {
    note(sign: Sign, now: number): void {
      if (first === undefined) [first, quiet, most] = [now, now, 0]
      quiet = Math.max(quiet, now + QUIET[sign].quiet)
      most = Math.max(most, QUIET[sign].most)
    },
    /** When to run, in milliseconds since the epoch; undefined while there is no reason to. */
    due: (): number | undefined => (first === undefined ? undefined : Math.min(quiet, first + most)),
    clear: (): void => void (first = undefined),
  }
}
