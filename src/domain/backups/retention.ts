/** How many backups are kept: the last ones, and the newest of each of the last days, weeks and months that have one. */
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
  /** Why it is kept; empty for one that goes. */
  reasons: (keyof Keep)[]
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7)

/** The Thursday of the week, which decides to which year it belongs (ISO 8601). */
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

/** What is kept and what goes, newest first. Days, weeks and months are those of UTC; the newest backup is always kept. */
export function judgeBackups(backups: readonly Dated[], keep: Keep): RetentionDecision[] {
  const newestFirst = backups.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  const verdicts = newestFirst.map(({ id }): RetentionDecision => ({ id, reasons: [] }))
  for (const rule of Object.keys(periods) as (keyof Keep)[]) {
    const seen = new Set<string>()
    for (const [index, backup] of newestFirst.entries()) {
      const period = periods[rule](backup)
      if (seen.has(period) || seen.size === keep[rule]) continue
      seen.add(period)
      verdicts[index]!.reasons.push(rule)
    }
  }
  if (verdicts[0]?.reasons.length === 0) verdicts[0].reasons.push('last')
  return verdicts
}
