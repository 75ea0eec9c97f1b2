/** What happened over all stories, and how often: what never happens tests nothing. */
export const seen = new Map<string, number>()

export const saw = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1)
