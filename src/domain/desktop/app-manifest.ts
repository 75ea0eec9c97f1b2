import { isSound, printable } from '../../base/text.ts'
import { isVersion } from '../../base/semver.ts'
import { categories } from '../../contract/app-categories.ts'
import { SLUG } from '../../contract/slug.ts'

/** Where the manifest stands in an app's folder. */
export const MANIFEST = 'app.json'

/** What an app says about itself in `app.json`, with the defaults filled in. */
export interface AppManifest {
  slug: string
  name: string
  /** Semantic Versioning 2.0.0. */
  version: string
  description: string
  /** A picture among the app's files; empty for none. */
  icon: string
  category: (typeof categories)[number]
  /** The page that opens. */
  entry: string
  /** Whether what it shows can be handed to the assistant. */
  supports_context: boolean
  /** Shown to administrators only. */
  admin_only: boolean
}

/** Something about a package that is wrong, or that its author should know. */
export interface Remark {
  /** Relative to the package; the package itself when empty. */
  file: string
  /** The manifest's field it is about. */
  field?: string
  message: string
}

const MAX_BYTES = 64 * 1024

interface Field {
  /** Filled in where nothing is said; a field without one is required. */
  standard?: string | boolean
  /** Why a value cannot stand; undefined when it can. */
  refusal(value: unknown): string | undefined
}

const text = (max: number, lines: boolean) => (value: unknown) => {
  const shown = typeof value === 'string' && lines ? value.replaceAll('\n', ' ') : value
  const fits = typeof shown === 'string' && (lines || shown.trim() !== '') && isSound(shown) && [...shown].length <= max
  if (fits && printable(shown) === shown) return undefined
  return `must be a text of ${lines ? 'at most' : '1 to'} ${max} printable characters`
}

const flag = (value: unknown) => (typeof value === 'boolean' ? undefined : 'must be true or false')

const fields: { [name in keyof AppManifest]: Field } = {
  slug: {
    refusal: (value) =>
      typeof value === 'string' && SLUG.test(value)
        ? undefined
        : 'must have 1 to 63 lower-case letters, digits and hyphens, and not begin with a hyphen',
  },
  name: { refusal: text(100, false) },
  version: {
    refusal: (value) =>
      typeof value === 'string' && isVersion(value) ? undefined : 'must be a version such as 1.0.0 (semver.org)',
  },
  description: { standard: '', refusal: text(2_000, true) },
  icon: {
    standard: '',
    refusal: (value) =>
      value === '' || (typeof value === 'string' && /\.(svg|png|jpe?g|gif|webp)$/.test(value))
        ? undefined
        : 'must be the path of an SVG, PNG, JPEG, GIF or WebP picture of the package',
  },
  category: {
    standard: 'utility',
    refusal: (value) =>
      categories.some((category) => category === value) ? undefined : `must be one of ${categories.join(', ')}`,
  },
  entry: {
    standard: 'index.html',
    refusal: (value) =>
      typeof value === 'string' && /\.html?$/.test(value)
        ? undefined
        : 'must be the path of an .html file of the package',
  },
  supports_context: { standard: false, refusal: flag },
  admin_only: { standard: false, refusal: flag },
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

/** Reads a manifest; it is undefined when there are problems, all of which are named. */
export function readManifest(bytes: Uint8Array): {
  manifest: AppManifest | undefined
  problems: Remark[]
  warnings: Remark[]
} {
  const about = (message: string, field?: string): Remark => ({ file: MANIFEST, ...(field && { field }), message })
  if (bytes.length > MAX_BYTES)
    return { manifest: undefined, problems: [about(`has more than ${MAX_BYTES / 1024} KiB`)], warnings: [] }
  const given = parsed(bytes)
  if (!isObject(given)) return { manifest: undefined, problems: [about('is not a JSON object')], warnings: [] }

  const problems = Object.entries(fields).flatMap(([name, { standard, refusal }]) => {
    const value = Object.hasOwn(given, name) ? given[name] : standard
    if (value === undefined) return [about('is missing', name)]
    const why = refusal(value)
    return why === undefined ? [] : [about(why, name)]
  })
  const warnings = Object.keys(given)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => about('is not a field of app.json and means nothing', name))
  const filled = Object.entries(fields).map(([name, { standard }]) => [
    name,
    Object.hasOwn(given, name) ? given[name] : standard,
  ])
  const manifest = problems.length > 0 ? undefined : (Object.fromEntries(filled) as AppManifest)
  return { manifest, problems, warnings }
}
