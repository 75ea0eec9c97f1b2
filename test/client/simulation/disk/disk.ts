import type { Random } from '../../../support/random.ts'
import { isTooLong, kept, spelledIn, type Kind } from './kinds.ts'
import { settleFolder, settleStep, survivors, type Rename, type Step } from './journal.ts'
import { PowerCut, systemError } from './errors.ts'

/** A file, folder or link, whatever names it has. */
export interface Inode {
  number: number
  kind: 'file' | 'dir' | 'link'
  mode: number
  mtimeNs: bigint
  ctimeNs: bigint
  data: Buffer
  /** What of the content is on the disk for certain; undefined when nothing of it is. */
  flushed: Buffer | undefined
  entries: Map<string, number>
  /** How many names it has. */
  links: number
  /** Something that a program keeps in this file, with a durability of its own. */
  kept?: unknown
}

/** Where a path leads: the folder, the name in it as the folder spells it, and what stands there. */
export interface Spot {
  folder: Inode
  name: string
  /** The name as it was asked for, or would be kept. */
  asked: string
  inode: Inode | undefined
  path: string
}

/** What somebody wants to know of what a program does to a disk; users' own deeds are not told. */
export interface Witness {
  /** Before each call of a program; it may throw, cut the power, or let somebody else act. */
  onCall(call: string, path: string): void
  /** A name changed: what stands there now, and what stood there before. */
  onName(path: string, now: Inode | undefined, before: Inode | undefined): void
  onWrite(inode: Inode): void
  /** A folder is listed or a file opened: where it really is. */
  onLook(path: string): void
}

const ROOT = 1
const LINKS = 20

/** A disk of one machine, in memory: what programs see, and what of it a power cut would leave. */
export class Disk {
  readonly mount: string
  readonly kind: Kind
  readonly now: () => number
  witness: Witness | undefined
  /** The machine is off. */
  dead = false
  /** How many times a program changed a name or a content. */
  changes = 0
  /** Instead of what is there, an empty folder is seen at this path: its own disk is away. */
  absent: string | undefined
  #inodes = new Map<number, Inode>()
  #steps: Step[] = []
  #numbers = ROOT
  #ticks = 0n
  #byUser = 0

  constructor(mount: string, now: () => number, kind: Kind) {
    this.mount = mount
    this.kind = kind
    this.now = now
    this.#inodes.set(ROOT, this.#make('dir', 0o755, ROOT))
  }

  /** Does what a user or another program does: at once durable, and not told to the witness. */
  asUser<T>(deed: () => T): T {
    this.#byUser += 1
    try {
      return deed()
    } finally {
      this.#byUser -= 1
    }
  }

  /** Begins a call of a program. */
  call(name: string, path: string): void {
    if (this.dead) throw new PowerCut()
    if (this.#byUser === 0) this.witness?.onCall(name, path)
    // Throws for the power that was cut by the witness.
    if (this.dead) throw new PowerCut()
  }

  /** Tells where a program looks; `path` is without links. */
  looked(path: string): void {
    if (this.#byUser === 0) this.witness?.onLook(path)
  }

  /** Does something as if every disk were where it belongs. */
  whole<T>(deed: () => T): T {
    const { absent } = this
    this.absent = undefined
    try {
      return this.asUser(deed)
    } finally {
      this.absent = absent
    }
  }

  time(): bigint {
    this.#ticks += 1n
    return BigInt(this.now()) * 1_000_000n + (this.#ticks % 1_000_000n)
  }

  #make(kind: Inode['kind'], mode: number, number = (this.#numbers += 1)): Inode {
    const time = this.time()
    const empty = Buffer.alloc(0)
    const flushed = kind === 'file' ? undefined : empty
    return { number, kind, mode, mtimeNs: time, ctimeNs: time, data: empty, flushed, entries: new Map(), links: 0 }
  }

  /** Makes something without a name. */
  create(kind: Inode['kind'], mode: number, data?: Buffer): Inode {
    const inode = this.#make(kind, mode)
    if (data) inode.data = data
    this.#inodes.set(inode.number, inode)
    return inode
  }

  /** Follows a path; links in the middle are always followed, the last one only with `follow`. */
  find(call: string, path: string, follow: boolean, links = 0): Spot {
    if (links > LINKS) throw systemError('ELOOP', call, path)
    const names = path.split('/').filter((name) => name !== '')
    let folder = this.#inodes.get(ROOT)!
    if (names.length === 0) return { folder, name: '', asked: '', inode: folder, path: '/' }
    let way = ''
    for (const [index, asked] of names.entries()) {
      if (isTooLong(asked, this.kind)) throw systemError('ENAMETOOLONG', call, path)
      const isLast = index === names.length - 1
      const name = spelledIn(folder.entries, asked, this.kind)
      const place = `${way}/${name}`
      const inode = this.absent === way ? undefined : this.#inodes.get(folder.entries.get(name) ?? -1)
      if (inode?.kind === 'link' && (follow || !isLast)) {
        const target = String(inode.data)
        const rest = names.slice(index + 1).join('/')
        return this.find(call, `${target.startsWith('/') ? target : `${way}/${target}`}/${rest}`, follow, links + 1)
      }
      if (isLast) return { folder, name, asked: kept(asked, this.kind), inode, path: place }
      if (!inode) throw systemError('ENOENT', call, path)
      if (inode.kind !== 'dir') throw systemError('ENOTDIR', call, path)
      folder = inode
      way = place
    }
    throw new Error('A path ends with its last name.')
  }

  get(call: string, path: string, follow = true): Inode {
    const { inode } = this.find(call, path, follow)
    if (!inode) throw systemError('ENOENT', call, path)
    return inode
  }

  /** Names in a folder. */
  names(call: string, path: string): string[] {
    const { inode, path: place } = this.find(call, path, true)
    if (!inode) throw systemError('ENOENT', call, path)
    if (inode.kind !== 'dir') throw systemError('ENOTDIR', call, path)
    return this.absent === place ? [] : [...inode.entries.keys()]
  }

  /** Changes names together. */
  step(changes: readonly (Spot & { to: Inode | undefined })[]): void {
    const lost = changes.find(({ path }) => this.absent !== undefined && path.startsWith(`${this.absent}/`))
    if (lost) throw systemError('EACCES', 'write', lost.path)
    const step: Step = {
      changes: changes.map(({ folder, name, to }): Rename => ({ folder: folder.number, name, to: to?.number })),
      stable: false,
    }
    this.#take(step)
    this.#steps.push(step)
    const time = this.time()
    for (const { folder, inode, to } of changes) {
      folder.mtimeNs = folder.ctimeNs = time
      if (inode) inode.ctimeNs = time
      if (to) to.ctimeNs = time
    }
    if (this.#byUser > 0) settleStep(this.#steps, step)
    else {
      this.changes += 1
      for (const { path, to, inode } of changes) this.witness?.onName(path, to, inode)
    }
  }

  #take({ changes }: Step): void {
    for (const { folder, name, to } of changes) {
      const entries = this.#inodes.get(folder)!.entries
      const before = this.#inodes.get(entries.get(name) ?? -1)
      if (before) before.links -= 1
      if (to !== undefined) this.#inodes.get(to)!.links += 1
      if (to === undefined) entries.delete(name)
      else entries.set(name, to)
    }
  }

  /** Gives a file another content. */
  put(inode: Inode, data: Buffer): void {
    inode.data = data
    inode.mtimeNs = inode.ctimeNs = this.time()
    if (this.#byUser > 0) inode.flushed = data
    else {
      this.changes += 1
      this.witness?.onWrite(inode)
    }
  }

  /** Everything that lies below a folder, folders before what they hold; links are not followed. */
  *walk(folder: string): Generator<{ path: string; inode: Inode }> {
    for (const name of this.names('readdir', folder)) {
      const path = `${folder === '/' ? '' : folder}/${name}`
      const inode = this.get('lstat', path, false)
      yield { path, inode }
      if (inode.kind === 'dir') yield* this.walk(path)
    }
  }

  /** Makes everything durable. */
  settle(): void {
    for (const step of this.#steps) step.stable = true
    for (const inode of this.#inodes.values()) inode.flushed = inode.data
  }

  flush(inode: Inode): void {
    if (inode.kind === 'dir') settleFolder(this.#steps, inode.number)
    else inode.flushed = inode.data
  }

  /** What this disk holds after the power failed and came back. */
  afterCut(random: Random): Disk {
    const next = new Disk(this.mount, this.now, this.kind)
    next.#numbers = this.#numbers
    next.#ticks = this.#ticks
    for (const [number, inode] of this.#inodes) {
      const data = inode.kind === 'file' ? leftOf(inode, random) : inode.data
      next.#inodes.set(number, { ...inode, data, flushed: data, entries: new Map(), links: 0 })
    }
    next.#steps = survivors(this.#steps, random).map((step) => ({ ...step, stable: true }))
    for (const step of next.#steps) next.#take(step)
    return next
  }
}

/** What a power cut leaves of a content that was not flushed: often the length and not the bytes. */
function leftOf({ data, flushed }: Inode, random: Random): Buffer {
  if (data === flushed) return data
  const old = flushed ?? Buffer.alloc(0)
  const torn = Buffer.concat([data.subarray(0, data.length >> 1), Buffer.alloc(data.length - (data.length >> 1))])
  return random.of([data, Buffer.alloc(data.length), old, Buffer.alloc(0), torn])
}
