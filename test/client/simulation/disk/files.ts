import type { Disk, Inode, Spot } from './disk.ts'
import { saw } from '../seen.ts'
import { systemError } from './errors.ts'

// What a system does with files, on a disk in memory: each function is one call of the system.

/** An open file. */
export interface Handle {
  disk: Disk
  inode: Inode
  path: string
  appends: boolean
  position: number
}

/** What is known of a file, as `fs.Stats` and `fs.BigIntStats` have it. */
export function statsOf(disk: Disk, inode: Inode, path: string, bigint: boolean) {
  const isAway = disk.absent !== undefined && path === disk.absent
  const size = inode.kind === 'dir' ? 4_096 : inode.data.length
  const kinds = { dir: 0o040000, file: 0o100000, link: 0o120000 }
  const mode = kinds[inode.kind] | inode.mode
  const [dev, ino] = isAway ? [8, 2] : [7, inode.number]
  const seconds = { mtimeMs: Number(inode.mtimeNs / 1_000_000n), ctimeMs: Number(inode.ctimeNs / 1_000_000n) }
  const numbers = bigint
    ? { size: BigInt(size), mode: BigInt(mode), dev: BigInt(dev), ino: BigInt(ino), nlink: 1n }
    : { size, mode, dev, ino, nlink: 1, ...seconds }
  return {
    ...numbers,
    mtimeNs: inode.mtimeNs,
    ctimeNs: inode.ctimeNs,
    isFile: () => inode.kind === 'file',
    isDirectory: () => inode.kind === 'dir',
    isSymbolicLink: () => inode.kind === 'link',
  }
}

const free = (call: string, spot: Spot): Spot => {
  if (spot.inode) throw systemError('EEXIST', call, spot.path)
  return spot
}

export function mkdir(disk: Disk, path: string, mode = 0o777, recursive = false): void {
  if (!recursive) {
    const spot = free('mkdir', disk.find('mkdir', path, false))
    return disk.step([{ ...spot, to: disk.create('dir', mode) }])
  }
  let way = ''
  for (const name of path.split('/').filter(Boolean)) {
    way += `/${name}`
    const spot = disk.find('mkdir', way, true)
    if (!spot.inode) disk.step([{ ...spot, to: disk.create('dir', mode) }])
    else if (spot.inode.kind !== 'dir') throw systemError(way === path ? 'EEXIST' : 'ENOTDIR', 'mkdir', way)
  }
}

export function link(disk: Disk, from: string, to: string): void {
  const source = disk.get('link', from, false)
  if (source.kind === 'dir') throw systemError('EPERM', 'link', from)
  disk.step([{ ...free('link', disk.find('link', to, false)), to: source }])
}

export function symlink(disk: Disk, target: string, path: string): void {
  const spot = free('symlink', disk.find('symlink', path, false))
  disk.step([{ ...spot, to: disk.create('link', 0o777, Buffer.from(target)) }])
}

export function rename(disk: Disk, from: string, to: string): void {
  const source = disk.find('rename', from, false)
  if (!source.inode) throw systemError('ENOENT', 'rename', from)
  const target = disk.find('rename', to, false)
  if (target.inode === source.inode) {
    // Another spelling of the same name; two names of one file stay as they are.
    const isRespelled = source.folder === target.folder && source.name === target.name && target.asked !== source.name
    if (!isRespelled) return
    saw('only spelled otherwise')
    const path = target.path.slice(0, -target.name.length) + target.asked
    return disk.step([
      { ...source, to: undefined },
      { ...target, name: target.asked, path, inode: undefined, to: source.inode },
    ])
  }
  if (source.inode.kind === 'dir' && `${target.path}/`.startsWith(`${source.path}/`))
    throw systemError('EINVAL', 'rename', from)
  if (target.inode) {
    const [a, b] = [source.inode.kind === 'dir', target.inode.kind === 'dir']
    if (a !== b) throw systemError(b ? 'EISDIR' : 'ENOTDIR', 'rename', to)
    if (b && target.inode.entries.size > 0) throw systemError('ENOTEMPTY', 'rename', to)
  }
  disk.step([
    { ...source, to: undefined },
    { ...target, to: source.inode },
  ])
}

export function unlink(disk: Disk, path: string): void {
  const spot = disk.find('unlink', path, false)
  if (!spot.inode) throw systemError('ENOENT', 'unlink', path)
  if (spot.inode.kind === 'dir') throw systemError('EISDIR', 'unlink', path)
  disk.step([{ ...spot, to: undefined }])
}

export function rmdir(disk: Disk, path: string): void {
  const spot = disk.find('rmdir', path, false)
  if (!spot.inode) throw systemError('ENOENT', 'rmdir', path)
  if (spot.inode.kind !== 'dir') throw systemError('ENOTDIR', 'rmdir', path)
  if (disk.names('rmdir', path).length > 0) throw systemError('ENOTEMPTY', 'rmdir', path)
  disk.step([{ ...spot, to: undefined }])
}

/** As `fs.rm`. */
export function rm(disk: Disk, path: string, { recursive = false, force = false } = {}): void {
  let spot: Spot
  try {
    spot = disk.find('rm', path, false)
    if (!spot.inode) throw systemError('ENOENT', 'rm', path)
  } catch (error) {
    if (force && ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return
    throw error
  }
  if (spot.inode!.kind !== 'dir') return disk.step([{ ...spot, to: undefined }])
  if (!recursive) throw systemError('ERR_FS_EISDIR', 'rm', path)
  for (const name of disk.names('rm', spot.path)) rm(disk, `${spot.path}/${name}`, { recursive })
  disk.step([{ ...spot, to: undefined }])
}

interface Flags {
  write: boolean
  create: boolean
  exclusive: boolean
  truncate: boolean
  append: boolean
  follow: boolean
}

const byName: Record<string, Partial<Flags>> = {
  r: {},
  w: { write: true, create: true, truncate: true },
  'w+': { write: true, create: true, truncate: true },
  a: { write: true, create: true, append: true },
  'a+': { write: true, create: true, append: true },
  wx: { write: true, create: true, exclusive: true },
}

/** The engine's other flags only ever read. Asked of the system itself: what is imported by this name is this very disk. */
const { O_NOFOLLOW } = process.getBuiltinModule('node:fs').constants

function flagsOf(flags: string | number): Partial<Flags> {
  if (typeof flags === 'number') return (flags & O_NOFOLLOW) === 0 ? {} : { follow: false }
  const found = byName[flags]
  if (!found) throw new Error(`This disk does not know how to open with ${flags}.`)
  return found
}

export function open(disk: Disk, path: string, flags: string | number = 'r', mode = 0o666): Handle {
  const { create, exclusive, truncate, append, write, follow = true } = flagsOf(flags)
  const spot = disk.find('open', path, follow && !exclusive)
  if (spot.inode && exclusive) throw systemError('EEXIST', 'open', path)
  if (spot.inode?.kind === 'link') throw systemError('ELOOP', 'open', path)
  disk.looked(spot.path)
  if (spot.inode?.kind === 'dir' && write) throw systemError('EISDIR', 'open', path)
  let { inode } = spot
  if (!inode) {
    if (!create) throw systemError('ENOENT', 'open', path)
    inode = disk.create('file', mode & ~0o022)
    disk.step([{ ...spot, to: inode }])
  } else if (truncate) disk.put(inode, Buffer.alloc(0))
  return { disk, inode, path: spot.path, appends: append ?? false, position: 0 }
}

/** Writes at a position, where reading and writing stand without one. */
export function write(handle: Handle, data: Uint8Array, position?: number): number {
  const { disk, inode } = handle
  const at = handle.appends ? inode.data.length : (position ?? handle.position)
  const size = Math.max(inode.data.length, at + data.length)
  const next = Buffer.alloc(size)
  inode.data.copy(next)
  next.set(data, at)
  disk.put(inode, next)
  handle.position = at + data.length
  return data.length
}

export function read(handle: Handle, buffer: Uint8Array, offset: number, length: number, position: number | null) {
  const at = position ?? handle.position
  const part = handle.inode.data.subarray(at, at + length)
  buffer.set(part, offset)
  if (position === null) handle.position = at + part.length
  return part.length
}

export function truncate({ disk, inode }: Handle, size: number): void {
  const next = Buffer.alloc(size)
  inode.data.copy(next)
  disk.put(inode, next)
}

export function chmod({ disk, inode }: Handle, mode: number): void {
  inode.mode = mode
  inode.ctimeNs = disk.time()
}

/** Times as `fs.utimes` takes them: seconds since the epoch, or a date. */
export function utimes({ disk, inode }: Handle, mtime: number | Date): void {
  inode.mtimeNs = BigInt(Math.round((mtime instanceof Date ? mtime.getTime() / 1_000 : mtime) * 1_000)) * 1_000_000n
  inode.ctimeNs = disk.time()
}

export function readdir(disk: Disk, path: string): string[] {
  disk.looked(disk.find('readdir', path, true).path)
  return disk.names('readdir', path)
}

/** A whole file. */
export function content(disk: Disk, path: string): Buffer {
  const { inode, path: place } = disk.find('open', path, true)
  if (!inode) throw systemError('ENOENT', 'open', path)
  disk.looked(place)
  if (inode.kind === 'dir') throw systemError('EISDIR', 'read', path)
  return inode.data
}
