const PAGE = { default: 100, max: 1_000 } as const

export const pageSize = (limit: number = PAGE.default): number => Math.min(limit, PAGE.max)

export const pageOf = <T>(all: readonly T[], { limit, offset = 0 }: { limit?: number; offset?: number }): T[] =>
  all.slice(offset, offset + pageSize(limit))

/** A quota on the wire: null for no limit. */
export const quotaOf = (bytes: number): number | null => (bytes < 0 ? null : bytes)

/** A quota in the database: -1 for no limit. */
export const bytesOf = (quota: number | null): number => quota ?? -1
