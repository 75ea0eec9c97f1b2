import type Fs from 'node:fs'
import type { Disk } from './disk.ts'
import * as files from './files.ts'
import { onDisk, processFile } from './mounts.ts'
import { inTurn } from './turns.ts'
import { systemError } from './errors.ts'

// Stands for `node:fs` in the modules of the engine: what lies on a disk in memory is done there, everything else by the real one.

const handles = new Map<number, files.Handle>()
/** Numbers that no real file has. */
let numbers = 1_000_000

interface StatOptions {
  bigint?: boolean
  throwIfNoEntry?: boolean
}

function stat(disk: Disk, path: string, follow: boolean, { bigint = false, throwIfNoEntry = true }: StatOptions = {}) {
  try {
    const { inode, path: place } = disk.find('stat', path, follow)
    if (!inode) throw systemError('ENOENT', 'stat', path)
    return files.statsOf(disk, inode, place, bigint)
  } catch (error) {
    const absent = ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
    if (absent && !throwIfNoEntry) return undefined
    throw error
  }
}

function exists(disk: Disk, path: string): boolean {
  try {
    return disk.find('access', path, true).inode !== undefined
  } catch {
    // Whatever is in the way: it cannot be reached.
    return false
  }
}

type Encoded = BufferEncoding | { encoding?: BufferEncoding | null } | null | undefined
const encodingOf = (options: Encoded): BufferEncoding | undefined =>
  (typeof options === 'string' ? options : options?.encoding) ?? undefined

function writeWhole(disk: Disk, path: string, data: string | Uint8Array, options?: { mode?: number; flag?: string }) {
  const handle = files.open(disk, path, options?.flag ?? 'w', options?.mode)
  files.write(handle, Buffer.from(data as Uint8Array))
}

/** Synchronous calls by their names, for a disk in memory. */
const byPath = {
  lstatSync: (disk: Disk, path: string, options?: StatOptions) => stat(disk, path, false, options),
  statSync: (disk: Disk, path: string, options?: StatOptions) => stat(disk, path, true, options),
  existsSync: exists,
  realpathSync: (disk: Disk, path: string) => disk.mount + disk.find('realpath', path, true).path,
  readdirSync: (disk: Disk, path: string, options?: { encoding?: string }) => {
    const names = files.readdir(disk, path)
    return options?.encoding === 'buffer' ? names.map((name) => Buffer.from(name)) : names
  },
  readFileSync(disk: Disk, path: string, options?: Encoded) {
    const encoding = encodingOf(options)
    return encoding ? files.content(disk, path).toString(encoding) : Buffer.from(files.content(disk, path))
  },
  writeFileSync: writeWhole,
  mkdirSync: (disk: Disk, path: string, options?: { mode?: number; recursive?: boolean }) =>
    files.mkdir(disk, path, options?.mode, options?.recursive),
  rmdirSync: files.rmdir,
  rmSync: files.rm,
  unlinkSync: files.unlink,
  openSync(disk: Disk, path: string, flags?: string | number, mode?: number) {
    handles.set((numbers += 1), files.open(disk, path, flags, mode))
    return numbers
  },
}

const betweenPaths = { linkSync: files.link, renameSync: files.rename }

const handleOf = (file: number, call: string): files.Handle => {
  const handle = handles.get(file)
  if (!handle) throw systemError('EBADF', call, String(file))
  handle.disk.call(call, handle.path)
  return handle
}

const byHandle = {
  closeSync: (file: number) => void handles.delete(file),
  fstatSync: (file: number, options?: StatOptions) => {
    const { disk, inode, path } = handleOf(file, 'fstatSync')
    return files.statsOf(disk, inode, path, options?.bigint ?? false)
  },
  fchmodSync: (file: number, mode: number) => files.chmod(handleOf(file, 'fchmodSync'), mode),
  futimesSync: (file: number, _: number, mtime: number) => files.utimes(handleOf(file, 'futimesSync'), mtime),
  writeSync: (file: number, data: Uint8Array, offset = 0) =>
    files.write(handleOf(file, 'writeSync'), data.subarray(offset)),
  readSync: (file: number, buffer: Uint8Array, offset: number, length: number, position: number | null) =>
    files.read(handleOf(file, 'readSync'), buffer, offset, length, position),
  async fsync(file: number, done: (error: unknown) => void) {
    const { disk, inode, path } = handles.get(file)!
    let failed: unknown = null
    try {
      await inTurn(disk, `fsync ${path}`, () => {
        disk.call('fsync', path)
        disk.flush(inode)
      })
    } catch (error) {
      failed = error
    }
    done(failed)
  },
}

function copyFile(actual: typeof Fs, from: string, to: string, mode: number): void {
  const [source, target] = [onDisk(from), onDisk(to)]
  if (!source) return actual.copyFileSync(from, to, mode)
  source.disk.call('copyFileSync', source.path)
  const { kept, data } = source.disk.get('copyfile', source.path)
  // What a program keeps in the file knows itself how to be copied.
  const bytes = (kept as { bytes(): Buffer } | undefined)?.bytes() ?? data
  if (!target) return actual.writeFileSync(to, bytes)
  writeWhole(target.disk, target.path, bytes, { flag: 'wx' })
}

/** The real module with everything that the engine uses put on top of it. */
export function overlay(actual: typeof Fs) {
  const face: Record<string, unknown> = { ...actual }
  const real = actual as unknown as Record<string, (...parts: unknown[]) => unknown>
  for (const [name, deed] of Object.entries(byPath) as [string, (disk: Disk, ...parts: unknown[]) => unknown][]) {
    face[name] = (path: unknown, ...rest: unknown[]): unknown => {
      const place = onDisk(path)
      if (!place && typeof path === 'number' && handles.has(path)) return readWhole(path, rest[0])
      if (!place) return (name === 'readFileSync' && processFile(path)) || real[name]!(path, ...rest)
      place.disk.call(name, place.path)
      return deed(place.disk, place.path, ...rest)
    }
  }
  for (const [name, deed] of Object.entries(betweenPaths)) {
    face[name] = (from: unknown, to: unknown): unknown => {
      const [source, target] = [onDisk(from), onDisk(to)]
      if (!source || !target) return real[name]!(from, to)
      source.disk.call(name, target.path)
      return deed(source.disk, source.path, target.path)
    }
  }
  for (const [name, deed] of Object.entries(byHandle) as [string, (file: number, ...parts: unknown[]) => unknown][]) {
    face[name] = (file: number, ...rest: unknown[]): unknown =>
      handles.has(file) ? deed(file, ...rest) : real[name]!(file, ...rest)
  }
  face['copyFileSync'] = (from: string, to: string, mode = 0) => copyFile(actual, from, to, mode)
  return { ...face, default: face }
}

function readWhole(file: number, options: unknown): unknown {
  const { inode } = handleOf(file, 'readFileSync')
  const encoding = encodingOf(options as Encoded)
  return encoding ? inode.data.toString(encoding) : Buffer.from(inode.data)
}
