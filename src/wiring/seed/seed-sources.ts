import { lstat, open, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { SourceError, type Found, type Sources } from '../../domain/seed/seed.ts'
import { errorCode } from '../../base/errors.ts'
import { UNTRUSTED } from '../../host/regular-file.ts'

/** Limit of files and folders in one tree. */
const MAX_ENTRIES = 200_000
const DEEPEST = 60

const PIECE = 256 * 1024

/** Largest file with a password, in bytes. */
const SECRET_BYTES = 4_096

function throwSourceError(path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof SourceError) throw error
    const why: Record<string, string> = {
      ENOENT: `there is no ${path} beside the seed`,
      EACCES: `${path} cannot be read: permission denied`,
      ENOTDIR: `there is no ${path} beside the seed`,
      ELOOP: `${path} is a symbolic link, and those are not followed`,
    }
    throw new SourceError(why[errorCode(error)] ?? `${path} cannot be read: ${errorCode(error)}`)
  }
}

/**
 * Access to a folder for relative paths in a seed. `..`, absolute paths and symbolic links are refused, so no path
 * leads out of it. Password files may be anywhere. Without a folder nothing can be read.
 */
export function makeSources(folder: string | undefined): Sources {
  const base = folder === undefined ? undefined : realpath(folder)
  // Parent folders already verified to be folders.
  const known = new Set<string>()

  async function find(path: string): Promise<string> {
    if (base === undefined)
      throw new SourceError('needs --base DIR: a seed from standard input has no folder of its own')
    const segments = path.replace(/\/+$/, '').split('/')
    if (isAbsolute(path) || /^[a-z]:|\\/i.test(path) || segments.some((name) => name === '' || name === '..'))
      throw new SourceError('must be a relative path inside the folder of the seed')
    let at = await base
    for (const [depth, name] of segments.entries()) {
      at = join(at, name)
      if (known.has(at)) continue
      const found = await lstat(at)
      if (found.isSymbolicLink())
        throw new SourceError(`${path} is a symbolic link or below one, and links are not followed`)
      if (found.isDirectory()) known.add(at)
      else if (depth < segments.length - 1) throw new SourceError(`there is no ${path} beside the seed`)
    }
    return at
  }

  return {
    async inspect(path): Promise<Found> {
      try {
        const place = await find(path)
        const found = await lstat(place)
        if (found.isFile()) return { kind: 'file', size: found.size, mtime: seconds(found.mtimeMs) }
        if (!found.isDirectory()) throw new SourceError(`${path} is neither a file nor a folder`)
        const entries: (Found & { kind: 'folder' })['entries'] = []
        await walk(place, '', path, entries)
        return { kind: 'folder', entries }
      } catch (error) {
        return throwSourceError(path)(error)
      }
    },
    async *read(path) {
      const file = await find(path)
        .then((place) => open(place, UNTRUSTED))
        .catch(throwSourceError(path))
      try {
        if (!(await file.stat()).isFile()) throw new SourceError(`${path} is not a file`)
        for (;;) {
          const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE)
          if (bytesRead > 0) yield buffer.subarray(0, bytesRead)
          if (bytesRead < PIECE) return
        }
      } finally {
        await file.close()
      }
    },
    async secret(path) {
      const place = resolve((await base) ?? '.', path)
      const { size } = await stat(place).catch(throwSourceError(path))
      if (size > SECRET_BYTES) throw new SourceError(`${path} is too large for a password`)
      const text = (await readFile(place, 'utf8').catch(throwSourceError(path))).replace(/\r?\n$/, '')
      if (text === '') throw new SourceError(`there is no password in ${path}`)
      if (/[\r\n]/.test(text))
        throw new SourceError(`${path} has more than one line: it must contain only the password`)
      return text
    },
  }
}

const seconds = (ms: number): number => Math.max(0, Math.floor(ms / 1_000))

/** Everything below a folder, sorted by name; folders before their contents. */
async function walk(place: string, inside: string, shown: string, entries: (Found & { kind: 'folder' })['entries']) {
  if (inside.split('/').length > DEEPEST) throw new SourceError(`${shown} is nested more than ${DEEPEST} folders deep`)
  const found = await readdir(place, { withFileTypes: true })
  for (const entry of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`
    if (entries.length >= MAX_ENTRIES)
      throw new SourceError(`${shown} holds more than ${MAX_ENTRIES} files and folders`)
    if (entry.isSymbolicLink()) throw new SourceError(`${shown}/${path} is a symbolic link, and those are not followed`)
    const { size, mtimeMs } = await lstat(join(place, entry.name))
    if (entry.isDirectory()) {
      entries.push({ path, kind: 'folder', size: 0, mtime: seconds(mtimeMs) })
      await walk(join(place, entry.name), path, shown, entries)
    } else if (entry.isFile()) entries.push({ path, kind: 'file', size, mtime: seconds(mtimeMs) })
    else throw new SourceError(`${shown}/${path} is neither a file nor a folder`)
  }
}
