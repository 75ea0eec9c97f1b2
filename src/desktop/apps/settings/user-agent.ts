const browsers = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
] as const

const systems = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const

const first = (known: readonly (readonly [string, RegExp])[], text: string): string =>
  known.find(([, sign]) => sign.test(text))?.[0] ?? ''

/** Browser and system of a User-Agent header; empty if unknown. */
export function parseUserAgent(userAgent: string): { browser: string; system: string; isPhone: boolean } {
  const system = first(systems, userAgent)
  return { browser: first(browsers, userAgent), system, isPhone: ['iPhone', 'Android'].includes(system) }
}
