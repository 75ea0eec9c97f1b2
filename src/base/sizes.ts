const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** Formats bytes in binary units with at most one decimal: `1.5 GB` is 1.5 x 1024^3. */
export function formatSize(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  // 1023.96 KB would print as "1024 KB": carry it into the next unit.
  if (Math.round(value * 10) >= 10_240 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : Math.round(value * 10) / 10} ${UNITS[unit]}`
}

/** `10GB`, `1.5 MiB`, `512k`, `1000` to bytes (binary units); undefined when it is not a size. */
export function parseSize(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)(?:i?b)?\s*$/i.exec(text)
  if (!match) return undefined
  const power = ['', 'k', 'm', 'g', 't', 'p'].indexOf(match[2]!.toLowerCase())
  const bytes = Math.round(Number(match[1]) * 1024 ** power)
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
