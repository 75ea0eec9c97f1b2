import { createHash } from 'node:crypto'
import { MANIFEST, readManifest, type AppManifest, type Remark } from './app-manifest.ts'
import { remarksOnPage } from './app-page.ts'

/** How large the package of an app may be. Bytes, and characters of a path. */
export const packageLimits = {
  files: 2_000,
  fileBytes: 32 * 1024 ** 2,
  bytes: 64 * 1024 ** 2,
  path: 200,
} as const

/** A package that may be installed: only `examinePackage` makes one. */
export interface AppPackage {
  manifest: AppManifest
  /** Over the path and content of every file. */
  sha256: string
  bytes: number
  files: readonly { path: string; content: Uint8Array }[]
}

/** Everything there is to say about a package, at once. */
export interface Examined {
  /** Undefined when there are problems. */
  app: AppPackage | undefined
  problems: Remark[]
  warnings: Remark[]
}

// What every browser, proxy and file system takes as it is written: no sign that could be encoded or read in two ways.
const SEGMENT = /^[A-Za-z0-9_@+~=,-][A-Za-z0-9._@+~=,-]*$/

/** Whether a path can be the path of an app's file. */
const isAppFilePath = (path: string): boolean =>
  path.length <= packageLimits.path && path.split('/').every((segment) => SEGMENT.test(segment))

function troubleWithName(path: string): string | undefined {
  if (isAppFilePath(path)) return undefined
  if (path.length > packageLimits.path) return `has a path of more than ${packageLimits.path} characters`
  if (path.startsWith('/') || path.split('/').includes('..')) return 'leads out of the package'
  return 'has a name with other signs than letters, digits and . _ - @ + ~ = ,'
}

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** One hash over all files, the same whatever the order they came in. */
function hashOfAll(files: AppPackage['files']): string {
  const lines = files.map(({ path, content }) => `${hashOf(content)} ${content.length} ${path}\n`)
  return hashOf(lines.sort().join(''))
}

function remarksOnFiles(files: ReadonlyMap<string, Uint8Array>): Remark[] {
  const remarks: Remark[] = []
  const total = [...files.values()].reduce((sum, { length }) => sum + length, 0)
  if (files.size > packageLimits.files)
    remarks.push({ file: '', message: `has more than ${packageLimits.files} files` })
  if (total > packageLimits.bytes)
    remarks.push({ file: '', message: `has more than ${packageLimits.bytes / 1024 ** 2} MiB` })
  for (const [file, { length }] of files) {
    const trouble = troubleWithName(file)
    if (trouble !== undefined) remarks.push({ file, message: trouble })
    if (length > packageLimits.fileBytes)
      remarks.push({ file, message: `has more than ${packageLimits.fileBytes / 1024 ** 2} MiB` })
    const parents = file.split('/').slice(0, -1)
    const above = parents.map((_, at) => parents.slice(0, at + 1).join('/')).find((folder) => files.has(folder))
    if (above !== undefined) remarks.push({ file, message: `cannot stand below ${above}, which is a file` })
  }
  return remarks
}

/**
 * Looks at the files of a package by path, and at what reading them found already. Nothing is installed that has not
 * passed here; warnings are for its author and keep nothing from being installed.
 */
export function examinePackage(files: ReadonlyMap<string, Uint8Array>, found: readonly Remark[] = []): Examined {
  const problems = [...found, ...remarksOnFiles(files)]
  const described = files.get(MANIFEST)
  if (!described) problems.push({ file: MANIFEST, message: 'is missing' })
  const { manifest, problems: wrong, warnings } = described ? readManifest(described) : nothingRead
  problems.push(...wrong)
  for (const field of ['entry', 'icon'] as const) {
    const path = manifest?.[field]
    if (path && !files.has(path)) problems.push({ file: MANIFEST, field, message: `names ${path}, which is not there` })
  }
  const names = new Set(files.keys())
  const remarks = [...files].flatMap(([path, content]) =>
    /\.html?$/.test(path) ? remarksOnPage(path, content, names) : [],
  )
  if (!manifest || problems.length > 0) return { app: undefined, problems, warnings: [...warnings, ...remarks] }

  const list = [...files].map(([path, content]) => ({ path, content }))
  const bytes = list.reduce((sum, { content }) => sum + content.length, 0)
  const app = { manifest, sha256: hashOfAll(list), bytes, files: list }
  return { app, problems, warnings: [...warnings, ...remarks] }
}

const nothingRead = { manifest: undefined, problems: [], warnings: [] }
