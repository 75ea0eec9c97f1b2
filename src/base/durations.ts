const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `90s`, `15m`, `1h30m`, `2d` to milliseconds; a bare number is seconds; undefined when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim()
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * 1_000
  if (!/^(\d{1,9}(ms|s|m|h|d))+$/.test(trimmed)) return undefined
  let total = 0
  for (const [, amount, unit] of trimmed.matchAll(/(\d+)(ms|s|m|h|d)/g)) total += Number(amount) * UNITS[unit!]!
  return total
}

/** Milliseconds for people, in the two largest units: `3 d 4 h`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  const parts: string[] = []
  let rest = Math.max(0, Math.round(ms / 1_000))
  for (const [unit, seconds] of [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const) {
    const amount = Math.floor(rest / seconds)
    rest -= amount * seconds
    if (amount > 0) parts.push(`${amount} ${unit}`)
    if (parts.length === 2) break
  }
  return parts.join(' ') || '0 s'
}
