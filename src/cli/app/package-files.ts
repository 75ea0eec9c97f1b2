import { open, readdir, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { errorCode } from '../../base/errors.ts'
import { BadTar, readTar, type TarEntry } from '../../base/tar-reader.ts'
import { packageLimits, type Remark } from '../../domain/desktop/desktop.ts'
import { UNTRUSTED } from '../../host/regular-file.ts'
import { Exit } from '../exit.ts'

// Reads an app package, a folder or an archive, into memory: regular files only, within the limits of a package.
// Problems are collected, so that the author sees all of them at once.

export interface PackageFiles {
  files: Map<string, Uint8Array>
  problems: Remark[]
  /** Paths with a name that begins with a dot; packages do not contain any. */
  leftOut: string[]
}

/** Most entries read, including folders and left-out files. */
const MAX_ENTRIES = 20_000

/** Most bytes that an archive may unpack to, including headers. */
const MAX_UNPACKED = packageLimits.bytes + 16 * 1024 ** 2

const megabytes = (bytes: number) => `${bytes / 1024 ** 2} MiB`

/** Stops reading after a limit was reached. */
class LimitReached extends Error {}

function collector() {
  const found: PackageFiles = { files: new Map(), problems: [], leftOut: [] }
  let [entries, bytes] = [0, 0]
  const problem = (file: string, message: string) => void found.problems.push({ file, message })
  return {
    found,
    problem,
    /** Counts an entry and returns whether to read it. */
    admit(path: string): boolean {
      entries += 1
      // `inspectPackage` reports that there are too many files.
      if (found.files.size > packageLimits.files) throw new LimitReached()
      if (entries > MAX_ENTRIES) {
        problem('', `has more than ${MAX_ENTRIES} entries`)
        throw new LimitReached()
      }
      const hidden = path.split('/').some((name) => /^\.[^.\\]/.test(name))
      if (hidden) found.leftOut.push(path)
      return !hidden
    },
    async read(path: string, size: number, body: AsyncIterable<Uint8Array>): Promise<void> {
      if (found.files.has(path)) return problem(path, 'is there twice')
      if (size > packageLimits.fileBytes) return problem(path, `has more than ${megabytes(packageLimits.fileBytes)}`)
      const parts: Uint8Array[] = []
      for await (const part of body) {
        bytes += part.length
        if (bytes > packageLimits.bytes) {
          problem('', `has more than ${megabytes(packageLimits.bytes)}`)
          throw new LimitReached()
        }
        parts.push(part)
      }
      found.files.set(path, Buffer.concat(parts))
    },
  }
}

type Collector = ReturnType<typeof collector>

/** Reads the package at a path. Throws `Exit` if the path is neither a folder nor an archive. */
export async function readPackage(path: string): Promise<PackageFiles> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') throw new Exit(5, `There is no ${path}.`, 'not_found')
    throw error
  })
  if (!stats.isDirectory() && !stats.isFile()) throw new Exit(2, `${path} is neither a folder nor an archive.`, 'usage')
  const collected = collector()
  try {
    await (stats.isDirectory() ? readFolder(collected, path, '') : readArchive(collected, path))
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error
  }
  return collected.found
}

const kinds: Record<string, string> = {
  '1': 'is a hard link',
  '2': 'is a symbolic link',
  '3': 'is a device',
  '4': 'is a device',
  '6': 'is a pipe',
}
const unsupportedKind = (kind = 'is neither a file nor a folder') => `${kind}: a package has only files and folders`

async function readFolder(collected: Collector, root: string, folder: string): Promise<void> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (!collected.admit(path)) continue
    if (entry.isDirectory()) await reportForbidden(collected, path, () => readFolder(collected, root, path))
    else if (entry.isFile()) await reportForbidden(collected, path, () => readFile(collected, root, path))
    else collected.problem(path, unsupportedKind(entry.isSymbolicLink() ? kinds['2'] : undefined))
  }
}

async function reportForbidden(collected: Collector, path: string, read: () => Promise<void>): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error
    collected.problem(path, 'may not be read by this user')
  }
}

async function readFile(collected: Collector, root: string, path: string): Promise<void> {
  // A file may have been replaced by a link or a pipe since it was listed.
  const file = await open(join(root, path), UNTRUSTED)
  try {
    const { size } = await file.stat()
    await collected.read(path, size, file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>)
  } finally {
    await file.close()
  }
}

/** The bytes of an archive. Gzip is detected by content, not by file name. */
async function archiveBytes(file: FileHandle): Promise<Readable> {
  const head = Buffer.alloc(2)
  await file.read(head, 0, 2, 0)
  const bytes = file.createReadStream({ start: 0, autoClose: false })
  if (head[0] !== 0x1f || head[1] !== 0x8b) return bytes
  const unpacked = createGunzip()
  // The reader of `unpacked` sees errors of both streams.
  pipeline(bytes, unpacked, () => undefined)
  return unpacked
}

async function* limitSize(collected: Collector, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const part of source) {
    bytes += part.length
    if (bytes > MAX_UNPACKED) {
      collected.problem('', `has more than ${megabytes(packageLimits.bytes)}`)
      throw new LimitReached()
    }
    yield part
  }
}

async function readArchive(collected: Collector, path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    for await (const entry of readTar(limitSize(collected, await archiveBytes(file)), { isWhole: true }))
      await readEntry(collected, entry)
  } catch (error) {
    const cause = error as NodeJS.ErrnoException
    if (error instanceof BadTar) collected.problem('', `is no sound tar archive: ${error.message}`)
    else if (cause.code?.startsWith('Z_')) collected.problem('', `is no sound gzip file: ${cause.message}`)
    else throw error
  } finally {
    await file.close()
  }
  unwrap(collected.found)
}

async function readEntry(collected: Collector, { name, type, size, body }: TarEntry): Promise<void> {
  const path = name.replace(/^(?:\.\/)+/, '').replace(/\/$/, '')
  // `tar -C app .` writes an entry for the folder itself.
  if (type === '5' && (path === '' || path === '.')) return
  if (!collected.admit(path)) return
  if (type === '0') await collected.read(path, size, body)
  else if (type !== '5') collected.problem(path, unsupportedKind(kinds[type]))
}

/** If the archive contains a single folder, that folder is the package. */
function unwrap(found: PackageFiles): void {
  const folder = [...found.files.keys()][0]?.split('/', 1)[0]
  const all = [...found.files.keys(), ...found.problems.map(({ file }) => file)]
  if (folder === undefined || found.files.has('app.json') || !found.files.has(`${folder}/app.json`)) return
  if (!all.every((path) => path.startsWith(`${folder}/`))) return
  found.files = new Map([...found.files].map(([path, content]) => [path.slice(folder.length + 1), content]))
  found.problems = found.problems.map((problem) => ({ ...problem, file: problem.file.slice(folder.length + 1) }))
}
