/** Range of brightness (0 to 255) that is readable on dark and on light backgrounds. */
const MIN_LIGHTNESS = 105
const MAX_LIGHTNESS = 190

/** Adjusts a colour to be readable; undefined if it is invalid. */
export function readableColor(color: string): string | undefined {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color)
  if (!match) return undefined
  const [red, green, blue] = match.slice(1).map((part) => parseInt(part, 16)) as [number, number, number]
  // Relative brightness (ITU-R BT.601).
  const light = 0.299 * red + 0.587 * green + 0.114 * blue
  const mixed = (part: number): number => {
    if (light < MIN_LIGHTNESS) return part + (255 - part) * ((MIN_LIGHTNESS - light) / (255 - light))
    if (light > MAX_LIGHTNESS) return part * (MAX_LIGHTNESS / light)
    return part
  }
  return `#${[red, green, blue].map((part) => Math.round(mixed(part)).toString(16).padStart(2, '0')).join('')}`
}
