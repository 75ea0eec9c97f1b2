import { isSound, printable } from '../../base/text.ts'
import { isVersion } from '../../base/semver.ts'
import { categories } from '../../contract/app-categories.ts'
import { SLUG } from '../../contract/slug.ts'

export const MANIFEST = 'app.json'

/** The content of `app.json`, with defaults filled in. */
export interface AppManifest {
  slug: string
  name: string
  /** Semantic Versioning 2.0.0. */
  version: string
  description: string
  /** Path of a picture in the package; empty for none. */
  icon: string
  category: (typeof categories)[number]
  /** Path of the start page. */
  entry: string
  /** Whether its content can be values to the assistant. */
  supports_context: boolean
  /** Shown to administrators only. */
  admin_only: boolean
}

export interface Remark {
  /** Path in the package; empty for the package itself. */
  file: string
  /** The affected field of the manifest. */
  field?: string
  message: string
}

const MAX_BYTES = 64 * 1024

interface Field {
  /** Default; a field without one is required. */
  default?: string | boolean
  /** Why a value is invalid; undefined if it is valid. */
  refusal(value: unknown): string | undefined
}

const text = (max: number, lines: boolean) => (value: unknown) => {
  const line = typeof value === 'string' && lines ? value.replaceAll('\n', ' ') : value
  const fits = typeof line === 'string' && (lines || line.trim() !== '') && isSound(line) && [...line].length <= max
  if (fits && printable(line) === line) return undefined
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
  description: { default: '', refusal: text(2_000, true) },
  icon: {
    default: '',
    refusal: (value) =>
      value === '' || (typeof value === 'string' && /\.(svg|png|jpe?g|gif|webp)$/.test(value))
        ? undefined
        : 'must be the path of an SVG, PNG, JPEG, GIF or WebP picture of the package',
  },
  category: {
    default: 'utility',
    refusal: (value) =>
      categories.some((category) => category === value) ? undefined : `must be one of ${categories.join(', ')}`,
  },
  entry: {
    default: 'index.html',
    refusal: (value) =>
      typeof value === 'string' && /\.html?$/.test(value)
        ? undefined
        : 'must be the path of an .html file of the package',
  },
  supports_context: { default: false, refusal: flag },
  admin_only: { default: false, refusal: flag },
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

/** Parses a manifest; `manifest` is undefined if there are problems, all of which are listed. */
export function readManifest(bytes: Uint8Array): {
  manifest: AppManifest | undefined
  problems: Remark[]
  warnings: Remark[]
} {
  const remark = (message: string, field?: string): Remark => ({ file: MANIFEST, ...(field && { field }), message })
  if (bytes.length > MAX_BYTES)
    return { manifest: undefined, problems: [remark(`has more than ${MAX_BYTES / 1024} KiB`)], warnings: [] }
  const values = parsed(bytes)
  if (!isObject(values)) return { manifest: undefined, problems: [remark('is not a JSON object')], warnings: [] }

  const problems = Object.entries(fields).flatMap(([name, { default: fallback, refusal }]) => {
    const value = Object.hasOwn(values, name) ? values[name] : fallback
    if (value === undefined) return [remark('is missing', name)]
    const reason = refusal(value)
    return reason === undefined ? [] : [remark(reason, name)]
  })
  const warnings = Object.keys(values)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => remark('is not a field of app.json and means nothing', name))
  const filled = Object.entries(fields).map(([name, { default: fallback }]) => [
    name,
    Object.hasOwn(values, name) ? values[name] : fallback,
  ])
  const manifest = problems.length > 0 ? undefined : (Object.fromEntries(filled) as AppManifest)
  return { manifest, problems, warnings }
}
