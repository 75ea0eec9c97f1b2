/** Numbers of backups to keep: the last ones, and the newest of each of the last days, weeks and months that have one. */
export interface Keep {
  last: number
  daily: number
  weekly: number
  monthly: number
}

interface Dated {
  id: string
  /** Epoch ms. */
  at: number
}

export interface RetentionDecision {
  id: string
  /**
   * Why it is kept; empty if it is removed. `future`: dated later than now; `damaged`: it cannot be read. Neither counts
   * for the rules, so that it does not displace others.
   */
  reasons: (keyof Keep | 'future' | 'damaged')[]
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7)

/** The Thursday of the week; its year is the week's year (ISO 8601). */
function weekOf(at: number): string {
  const date = new Date(at)
  date.setUTCDate(date.getUTCDate() + 3 - ((date.getUTCDay() + 6) % 7))
  return dayOf(date.getTime())
}

const periods: Record<keyof Keep, (backup: Dated) => string> = {
  last: ({ id }) => id,
  daily: ({ at }) => dayOf(at),
  weekly: ({ at }) => weekOf(at),
  monthly: ({ at }) => monthOf(at),
}

/** Decides which backups to keep, newest first. Days, weeks and months are in UTC; the newest backup is always kept. */
export function applyRetention(backups: readonly Dated[], keep: Keep): RetentionDecision[] {
  const newestFirst = backups.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  const decisions = newestFirst.map(({ id }): RetentionDecision => ({ id, reasons: [] }))
  for (const rule of Object.keys(periods) as (keyof Keep)[]) {
    const seen = new Set<string>()
    for (const [index, backup] of newestFirst.entries()) {
      const period = periods[rule](backup)
      if (seen.has(period) || seen.size === keep[rule]) continue
      seen.add(period)
      decisions[index]!.reasons.push(rule)
    }
  }
  if (decisions[0]?.reasons.length === 0) decisions[0].reasons.push('last')
  return decisions
}
