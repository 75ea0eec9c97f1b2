/** Least and greatest lightness at which a colour can be read on a dark and on a light background, of 255. */
const MIN_LIGHTNESS = 105
const MAX_LIGHTNESS = 190

/** A colour somebody chose, made readable; undefined for what is none. */
export function readableColor(color: string): string | undefined {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color)
  if (!match) return undefined
  const [red, green, blue] = match.slice(1).map((part) => parseInt(part, 16)) as [number, number, number]
  // ITU-R BT.601: how light the eye finds each of the three.
  const light = 0.299 * red + 0.587 * green + 0.114 * blue
  const mixed = (part: number): number => {
    if (light < MIN_LIGHTNESS) return part + (255 - part) * ((MIN_LIGHTNESS - light) / (255 - light))
    if (light > MAX_LIGHTNESS) return part * (MAX_LIGHTNESS / light)
    return part
  }
  return `#${[red, green, blue].map((part) => Math.round(mixed(part)).toString(16).padStart(2, '0')).join('')}`
}
