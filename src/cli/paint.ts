// Escape sequences of terminals (ECMA-48, SGR). Every command needs them, so this loads nothing.

/** The sequences that begin and end each style. */
const styles = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  inverse: [7, 27],
  strikethrough: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  whiteBright: [97, 39],
  bgBlack: [40, 49],
} as const

/** Paints text; styles combine: `paint.bold.red('text')`. */
export type Paint = ((text: string) => string) & { readonly [style in keyof typeof styles]: Paint } & {
  /** The nearest of 256 colours to `#rrggbb`. */
  hex(color: string): Paint
}

interface Pair {
  open: string
  close: string
}

const sgr = (code: number | string): string => `\u001b[${code}m`

/** The nearest of the colours 16 to 255: a cube of 6 × 6 × 6, and greys. */
function colorNumber(hex: string): number {
  const value = /^#[0-9a-f]{6}$/i.test(hex) ? Number.parseInt(hex.slice(1), 16) : 0
  const [red, green, blue] = [value >> 16, (value >> 8) & 255, value & 255] as const
  const level = (part: number): number => Math.round((part / 255) * 5)
  if (red !== green || green !== blue) return 16 + 36 * level(red) + 6 * level(green) + level(blue)
  if (red < 8) return 16
  return red > 248 ? 231 : Math.round(((red - 8) / 247) * 24) + 232
}

/** After the end of an inner style the outer ones begin again, and none reaches over a line break. */
function applied(pairs: readonly Pair[], text: string): string {
  if (text === '') return ''
  const opened = pairs.map(({ open }) => open).join('')
  const closed = pairs
    .map(({ close }) => close)
    .reverse()
    .join('')
  const continued = text.includes('\u001b')
    ? pairs.reduceRight((inner, { open, close }) => inner.replaceAll(close, close + open), text)
    : text
  return opened + continued.replace(/\r?\n/g, (end) => closed + end + opened) + closed
}

function withStyles(pairs: readonly Pair[], isPlain: boolean): Paint {
  const paint = (text: string): string => (isPlain ? text : applied(pairs, text))
  const next = (open: number | string, close: number): Paint =>
    isPlain ? (paint as Paint) : withStyles([...pairs, { open: sgr(open), close: sgr(close) }], false)
  for (const [name, [open, close]] of Object.entries(styles))
    Object.defineProperty(paint, name, { get: () => next(open, close) })
  return Object.assign(paint, { hex: (color: string) => next(`38;5;${colorNumber(color)}`, 39) }) as Paint
}

/** `plain` leaves all text as it is. */
export const makePaint = (kind: 'plain' | 'colored'): Paint => withStyles([], kind === 'plain')
