import type { Disk } from './disk/disk.ts'
import * as files from './disk/files.ts'
import { foldName } from './disk/kinds.ts'
import { HOME } from './machine.ts'

/**
 * What somebody does in a synchronised folder; what cannot be done is left undone. A path is written out, or `?` and a number:
 * one of those that are there.
 */
export type Deed =
  /** Whole, in the place of what was there, or into the very file. */
  | { do: 'write'; path: string; content: string; inPlace: boolean }
  | { do: 'remove'; path: string }
  | { do: 'folder'; path: string }
  | { do: 'rename'; path: string; to: string }
  | { do: 'swap'; path: string; to: string }
  | { do: 'copy'; path: string; to: string }
  /** Puts a link to a place outside there. */
  | { do: 'link'; path: string }

/** A folder that no synchronising program may touch, and what it holds. */
export const OUTSIDE = { folder: '/outside', file: '/outside/a', content: 'nobody else is to touch this' }

/** What users did to a disk: paths, whether there was a link among it, and whether the disk was away. */
interface Lately {
  paths: string[]
  linked: boolean
  away: boolean
}

/** What a path is compared by on whatever disk. */
export const keyOfPath = (path: string): string => foldName(path)

/** What happened to a disk since the last run on it began. */
export const latelyOn = ({ lately }: Ledger, { mount }: Disk): Lately =>
  (lately[mount] ??= { paths: [], linked: false, away: false })

export interface Ledger {
  /** Contents that users wrote. */
  written: Set<string>
  /** Those that a user who had them in front of him overwrote or deleted. */
  released: Set<string>
  /** Places on each disk at which a user took something away, by its mount. */
  taken: Set<string>
  /** Contents that a user took away, moved or overwrote, by the disk on which he did. */
  parted: Record<string, Set<string>>
  /** What happened to each disk since the last run on it began. */
  lately: Record<string, Lately>
}

/** Does a deed on a disk; it is durable at once. */
export function doDeed(disk: Disk, deed: Deed, ledger: Ledger): void {
  disk.asUser(() => {
    try {
      perform(disk, deed, ledger)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (
        !['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'EINVAL', 'EPERM', 'EACCES', 'ENAMETOOLONG'].includes(
          String(code),
        )
      )
        throw error
    }
  })
}

/** Other spellings of the engine's own folder are that folder on some disks: nobody puts anything there. */
const isOwn = (path: string): boolean => path.split('/')[1]!.toLowerCase() === '.svc'

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** Contents at and below a place. */
function contentsAt(disk: Disk, place: string): string[] {
  const { inode } = disk.find('lstat', place, false)
  if (inode?.kind === 'file') return [inode.data.toString()]
  if (inode?.kind !== 'dir') return []
  return [...disk.walk(place)].flatMap((each) => (each.inode.kind === 'file' ? [each.inode.data.toString()] : []))
}

/** Gives up whatever stands at a place. */
function release(disk: Disk, place: string, { released }: Ledger): void {
  for (const content of contentsAt(disk, place)) released.add(content)
}

/** Notes what a deed is about to take from where it is. */
function part(disk: Disk, paths: string[], isLink: boolean, ledger: Ledger): void {
  const lately = latelyOn(ledger, disk)
  lately.paths.push(...paths)
  lately.linked ||= isLink
  const parted = (ledger.parted[disk.mount] ??= new Set())
  for (const path of paths) for (const content of contentsAt(disk, HOME + path)) parted.add(content)
}

/** Whether a place can be had without walking through a link. */
function isOpen(disk: Disk, place: string): boolean {
  for (let at = parentOf(place); at !== HOME; at = parentOf(at)) {
    const { inode } = disk.find('lstat', at, false)
    if (inode && inode.kind !== 'dir') return false
  }
  return true
}

function resolve(disk: Disk, path: string): string {
  if (!path.startsWith('?')) return path
  const paths = Object.keys(treeOf(disk))
  return paths.length === 0 ? '/a' : paths[Number(path.slice(1)) % paths.length]!
}

function perform(disk: Disk, given: Deed, ledger: Ledger): void {
  if (disk.absent !== undefined) return
  const deed = {
    ...given,
    path: resolve(disk, given.path),
    ...('to' in given ? { to: resolve(disk, given.to) } : {}),
  } as Deed
  if (disk.kind !== 'exact' && (isOwn(deed.path) || ('to' in deed && isOwn(deed.to)))) return
  const place = HOME + deed.path
  if (!isOpen(disk, place)) return
  if (deed.do !== 'write') ledger.taken.add(`${disk.mount}${deed.path}`)
  part(disk, 'to' in deed ? [deed.path, deed.to] : [deed.path], deed.do === 'link', ledger)
  if (deed.do === 'write') return write(disk, place, deed, ledger)
  if (deed.do === 'folder') return files.mkdir(disk, place, 0o755, true)
  if (deed.do === 'remove') {
    release(disk, place, ledger)
    return files.rm(disk, place, { recursive: true })
  }
  if (deed.do === 'link') {
    release(disk, place, ledger)
    files.rm(disk, place, { recursive: true, force: true })
    return files.symlink(disk, disk.get('stat', OUTSIDE.folder) && OUTSIDE.folder, place)
  }
  const to = HOME + deed.to
  if (!isOpen(disk, to) || isWithin(deed.to, deed.path) || isWithin(deed.path, deed.to)) return
  if (deed.do === 'copy') {
    const inode = disk.get('lstat', place, false)
    if (inode.kind === 'file') write(disk, to, { content: inode.data.toString(), inPlace: false }, ledger)
  } else if (deed.do === 'rename') rename(disk, place, to, ledger)
  else {
    for (const each of [place, to]) disk.get('lstat', each, false)
    const aside = `${HOME}/.aside`
    files.rename(disk, to, aside)
    files.rename(disk, place, to)
    files.rename(disk, aside, place)
  }
}

function rename(disk: Disk, place: string, to: string, ledger: Ledger): void {
  const source = disk.get('lstat', place, false)
  const target = disk.find('lstat', to, false).inode
  if (target && (target.kind === 'dir') !== (source.kind === 'dir')) return
  if (!target) files.mkdir(disk, parentOf(to), 0o755, true)
  if (target?.kind === 'file') ledger.released.add(target.data.toString())
  files.rename(disk, place, to)
}

function write(
  disk: Disk,
  place: string,
  { content, inPlace }: { content: string; inPlace: boolean },
  ledger: Ledger,
): void {
  const { inode } = (files.mkdir(disk, parentOf(place), 0o755, true), disk.find('open', place, false))
  if (inode?.kind === 'dir') return write(disk, `${place}/new`, { content, inPlace }, ledger)
  if (inode && inode.kind !== 'file') return
  if (inode) ledger.released.add(inode.data.toString())
  ledger.written.add(content)
  const data = Buffer.from(content)
  if (inode && inPlace) return disk.put(inode, data)
  const fresh = disk.create('file', 0o644)
  disk.put(fresh, data)
  disk.step([{ ...disk.find('rename', place, false), to: fresh }])
}

/** Somebody gives what was left out because of its name another one; whether there was any. */
export function renameApart(disk: Disk, skipped: readonly string[], fresh: () => string): boolean {
  return disk.asUser(() => {
    const left = new Set(skipped.map(keyOfPath))
    const found = [...disk.walk(HOME)].filter(
      ({ path }) => !isWithin(path, `${HOME}/.svc`) && left.has(keyOfPath(path.slice(HOME.length))),
    )
    // What lies in a folder that was renamed is looked for once more.
    const top = found.filter(({ path }) => !found.some((each) => each.path !== path && isWithin(path, each.path)))
    for (const { path } of top) files.rename(disk, path, `${HOME}/${fresh()}`)
    return top.length > 0
  })
}

/** Takes away all links that were put into a folder. */
export function removeLinks(disk: Disk): void {
  disk.asUser(() => {
    const links = Array.from(disk.walk(HOME)).filter(({ inode }) => inode.kind === 'link')
    for (const { path } of links) files.unlink(disk, path)
  })
}

/** What a folder holds beside the engine's own: contents of files, null for folders. */
export function treeOf(disk: Disk): Record<string, string | null> {
  const own = `${HOME}/.svc`
  const tree = [...disk.asUser(() => [...disk.walk(HOME)])]
    .filter(({ path }) => !isWithin(path, own))
    .map(({ path, inode }) => [path.slice(HOME.length), inode.kind === 'dir' ? null : inode.data.toString()] as const)
  return Object.fromEntries(tree.sort(([a], [b]) => (a < b ? -1 : 1)))
}
