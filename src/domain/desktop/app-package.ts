import { createHash } from 'node:crypto'
import { MANIFEST, readManifest, type AppManifest, type Remark } from './app-manifest.ts'
import { remarksOnPage } from './app-page.ts'

/** Limits of a package: numbers, bytes, and characters of a path. */
export const packageLimits = {
  files: 2_000,
  fileBytes: 32 * 1024 ** 2,
  bytes: 64 * 1024 ** 2,
  path: 200,
} as const

/** A valid package; only `validatePackage` creates one. */
export interface AppPackage {
  manifest: AppManifest
  /** Hash over the path and content of every file. */
  sha256: string
  bytes: number
  files: readonly { path: string; content: Uint8Array }[]
}

/** The result of validating a package. */
export interface PackageValidation {
  /** Undefined if there are problems. */
  app: AppPackage | undefined
  problems: Remark[]
  warnings: Remark[]
}

// Names that every browser, proxy and file system takes as written: no characters with an encoded or ambiguous form.
const SEGMENT = /^[A-Za-z0-9_@+~=,-][A-Za-z0-9._@+~=,-]*$/

const isAppFilePath = (path: string): boolean =>
  path.length <= packageLimits.path && path.split('/').every((segment) => SEGMENT.test(segment))

function pathProblem(path: string): string | undefined {
  if (isAppFilePath(path)) return undefined
  if (path.length > packageLimits.path) return `has a path of more than ${packageLimits.path} characters`
  if (path.startsWith('/') || path.split('/').includes('..')) return 'leads out of the package'
  return 'has a name with other signs than letters, digits and . _ - @ + ~ = ,'
}

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** One hash over all files, independent of their order. */
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
    const problem = pathProblem(file)
    if (problem !== undefined) remarks.push({ file, message: problem })
    if (length > packageLimits.fileBytes)
      remarks.push({ file, message: `has more than ${packageLimits.fileBytes / 1024 ** 2} MiB` })
    const parents = file.split('/').slice(0, -1)
    const above = parents.map((_, at) => parents.slice(0, at + 1).join('/')).find((folder) => files.has(folder))
    if (above !== undefined) remarks.push({ file, message: `cannot stand below ${above}, which is a file` })
  }
  return remarks
}

/** Validates the files of a package. Only valid packages are installed; warnings are for the author. */
export function validatePackage(
  files: ReadonlyMap<string, Uint8Array>,
  found: readonly Remark[] = [],
): PackageValidation {
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
