const PAGE = { standard: 100, most: 1_000 } as const

/** How many of a list are asked for. */
export const pageSize = (limit: number = PAGE.standard): number => Math.min(limit, PAGE.most)

/** The part of a list that is asked for. */
export const pageOf = <T>(all: readonly T[], { limit, offset = 0 }: { limit?: number; offset?: number }): T[] =>
  all.slice(offset, offset + pageSize(limit))

/** A quota as the wire has it: null for no limit. */
export const quotaOf = (bytes: number): number | null => (bytes < 0 ? null : bytes)

/** The same from the wire: -1 for no limit. */
export const bytesOf = (quota: number | null): number => quota ?? -1
