import type Promises from 'node:fs/promises'
import type { Disk } from './disk.ts'
import * as files from './files.ts'
import { onDisk } from './mounts.ts'
import { inTurn } from './turns.ts'
import { systemError } from './errors.ts'

// Stands for `node:fs/promises` in the modules of the engine, as `node-fs.ts` does for `node:fs`.

type Deed = (disk: Disk, path: string, ...rest: never[]) => unknown

/** What the engine uses of a `FileHandle`. */
function handleFace(handle: files.Handle) {
  const { disk, inode, path } = handle
  const later = <T>(name: string, deed: () => T): Promise<T> =>
    inTurn(disk, `${name} ${path}`, () => {
      disk.call(name, path)
      return deed()
    })
  const append = (data: string | Uint8Array) => void files.write(handle, Buffer.from(data as Uint8Array))
  return {
    stat: ({ bigint = false } = {}) => later('stat', () => files.statsOf(disk, inode, path, bigint)),
    read: (buffer: Uint8Array, offset: number, length: number, position: number | null) =>
      later('read', () => ({ bytesRead: files.read(handle, buffer, offset, length, position), buffer })),
    readFile: (encoding?: BufferEncoding) =>
      later('readFile', () => (encoding ? inode.data.toString(encoding) : Buffer.from(inode.data))),
    writeFile: (data: string | Uint8Array) => later('write', () => append(data)),
    writev: (parts: Uint8Array[], position: number) =>
      later('write', () => ({ bytesWritten: files.write(handle, Buffer.concat(parts), position) })),
    truncate: (size = 0) => later('truncate', () => files.truncate(handle, size)),
    chmod: (mode: number) => later('chmod', () => files.chmod(handle, mode)),
    utimes: (_: number, mtime: number) => later('utimes', () => files.utimes(handle, mtime)),
    sync: () => later('sync', () => disk.flush(inode)),
    datasync: () => later('datasync', () => disk.flush(inode)),
    close: () => Promise.resolve(),
  }
}

const byPath: Record<string, Deed> = {
  open: (disk, path, flags?: string | number, mode?: number) => handleFace(files.open(disk, path, flags, mode)),
  mkdir: (disk, path, options?: { mode?: number; recursive?: boolean }) =>
    files.mkdir(disk, path, options?.mode, options?.recursive),
  readdir: files.readdir,
  readFile: (disk, path, encoding?: BufferEncoding) => {
    const content = files.content(disk, path)
    return encoding ? content.toString(encoding) : Buffer.from(content)
  },
  rm: (disk, path, options?: { recursive?: boolean; force?: boolean }) => files.rm(disk, path, options),
  stat(disk, path, options?: { bigint?: boolean }) {
    const { inode, path: place } = disk.find('stat', path, true)
    if (!inode) throw systemError('ENOENT', 'stat', path)
    return files.statsOf(disk, inode, place, options?.bigint ?? false)
  },
}

const betweenPaths = { link: files.link, rename: files.rename }

/** The real module with everything that the engine uses put on top of it. */
export function overlay(actual: typeof Promises) {
  const face: Record<string, unknown> = { ...actual }
  const real = actual as unknown as Record<string, (...parts: unknown[]) => unknown>
  for (const [name, deed] of Object.entries(byPath)) {
    face[name] = (path: unknown, ...rest: unknown[]): unknown => {
      const place = onDisk(path)
      if (!place) return real[name]!(path, ...rest)
      return inTurn(place.disk, `${name} ${place.path}`, () => {
        place.disk.call(name, place.path)
        return deed(place.disk, place.path, ...(rest as never[]))
      })
    }
  }
  for (const [name, deed] of Object.entries(betweenPaths)) {
    face[name] = (from: unknown, to: unknown): unknown => {
      const [source, target] = [onDisk(from), onDisk(to)]
      if (!source || !target) return real[name]!(from, to)
      return inTurn(source.disk, `${name} ${target.path}`, () => {
        source.disk.call(name, target.path)
        deed(source.disk, source.path, target.path)
      })
    }
  }
  return { ...face, default: face }
}
