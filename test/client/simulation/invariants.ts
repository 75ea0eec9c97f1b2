import { createHash } from 'node:crypto'
import type { SqliteHandle } from '../../../src/host/sqlite-engine.ts'
import type { Planned } from '../../../src/client/sync/report/events.ts'
import type { Disk, Inode } from './disk/disk.ts'
import { HOME } from './machine.ts'
import { keyOfPath, latelyOn, OUTSIDE, treeOf, type Ledger } from './users.ts'
import type { ServerFiles } from './world.ts'

// What must hold at every moment, whatever happens, and once everything has come to rest.

/** Something that must never happen did. */
export class Broken extends Error {
  override name = 'Broken'
}

const OWN = `${HOME}/.svc`
const isLive = (path: string): boolean => path.startsWith(`${HOME}/`) && path !== OWN && !path.startsWith(`${OWN}/`)

const shown = (data: Buffer): string => JSON.stringify(data.subarray(0, 60).toString())

/** Nothing outside is touched, nothing half-made is given a name that users see, and nothing that they see goes for good. */
export function onName(path: string, now: Inode | undefined, before: Inode | undefined, { written }: Ledger): void {
  if (!path.startsWith(`${HOME}/`) && path !== HOME && !path.startsWith('/state'))
    throw new Broken(`I7: ${path} was touched.`)
  if (!isLive(path)) return
  if (now?.kind === 'file' && !written.has(now.data.toString()))
    throw new Broken(`I5: ${path} came to hold ${shown(now.data)}, which nobody wrote.`)
  if (before?.kind === 'file' && before.links === 0 && before !== now)
    throw new Broken(`I1: ${path} with ${shown(before.data)} was destroyed.`)
  if (before?.kind === 'link' && before.links === 0) throw new Broken(`I7: the link ${path} was destroyed.`)
}

/** Nothing outside is looked at, unless somebody puts a link there at that very moment. */
export function onLook(disk: Disk, path: string, ledger: Ledger): void {
  if ((path === OUTSIDE.folder || path.startsWith(`${OUTSIDE.folder}/`)) && !latelyOn(ledger, disk).linked)
    throw new Broken(`I7: ${path} was looked at.`)
}

/** A file that has a name that users see is never written to. */
export function onWrite(disk: Disk, inode: Inode): void {
  for (const each of disk.walk('/')) {
    if (each.inode === inode && !each.path.startsWith(`${OWN}/`) && !each.path.startsWith('/state'))
      throw new Broken(`I5: ${each.path} was written to in its place.`)
  }
}

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex')

const TEMPORARY = '/.svc-tmp-'
function isRelated(...paths: [string, string]): boolean {
  const [one, other] = paths.map(keyOfPath) as [string, string]
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)
}

/** What is at a path, spelled so or, on a disk or in a name that nobody tells apart, otherwise. */
function at({ kind }: Disk, tree: Record<string, string | null>, path: string): (string | null)[] {
  if (path in tree) return [tree[path]!]
  const keyOf = (each: string): string => (kind === 'exact' ? each.normalize('NFC') : keyOfPath(each))
  const key = keyOf(path)
  return Object.keys(tree).flatMap((each) => (keyOf(each) === key ? [tree[each]!] : []))
}

/** Whether a file is where it was when the run began that is at work on a disk. */
function stillHas(disk: Disk, path: string, sha256: string | undefined, ledger: Ledger): boolean {
  if (latelyOn(ledger, disk).paths.some((touched) => isRelated(touched, path))) return false
  const contents = at(
    disk,
    disk.whole(() => treeOf(disk)),
    path,
  )
  return contents.some(
    (content) => typeof content === 'string' && (sha256 === undefined || sha256Of(content) === sha256),
  )
}

/** What one request of a machine did to the server's files. */
export function onServed(before: ServerFiles, after: ServerFiles, disk: Disk, ledger: Ledger): void {
  const base = new Map(agreedOn(disk).map((row) => [row.path, row.sha256]))
  const parted = new Set([...(ledger.parted[disk.mount] ?? [])].map(sha256Of))
  for (const [id, { path, sha256, parent, name }] of before) {
    const now = after.get(id)
    if (now && now.parent === parent && now.name === name) continue
    if (path.startsWith(TEMPORARY)) continue
    // Only spelled otherwise.
    if (now && disk.kind !== 'exact' && keyOfPath(now.path) === keyOfPath(path)) continue
    if (!now && !parted.has(sha256)) throw new Broken(`I8: ${path} was deleted there, and nobody here had done so.`)
    if (base.has(path) && base.get(path) !== sha256)
      throw new Broken(`I6: ${path} was ${now ? 'moved' : 'deleted'} there with a content that was never here.`)
    // What was not there for a moment passes for moved, if there is another one of the same content.
    if (now && latelyOn(ledger, disk).away) continue
    if (stillHas(disk, path, now && sha256, ledger))
      throw new Broken(`I8: ${path} was ${now ? 'moved' : 'deleted'} there, and is here.`)
  }
  for (const [id, { path, sha256 }] of after) {
    if (before.get(id)?.sha256 !== sha256 && sha256 === sha256Of(OUTSIDE.content))
      throw new Broken(`I7: what lies outside was sent as ${path}.`)
  }
}

/** A plan that is only looked at: what it would delete there is gone here. */
export function onPlanned(disk: Disk, { op, path }: Planned, ledger: Ledger): void {
  if (op === 'remove-remote' && !latelyOn(ledger, disk).away && stillHas(disk, path, undefined, ledger))
    throw new Broken(`I8: ${path} was to be deleted there, and is here.`)
}

interface Agreed {
  path: string
  kind: string
  sha256: string | null
}

/** What a machine knows that both sides held. */
function agreedOn(disk: Disk): Agreed[] {
  const { inode } = disk.whole(() => disk.find('lstat', `${OWN}/state.db`, false))
  const kept = inode?.kept as { handle: SqliteHandle } | undefined
  return kept ? (kept.handle.prepare('select path, kind, sha256 from base').all() as Agreed[]) : []
}

/** What base says is here was here for certain: a power cut does not change it. A folder that is made again may be gone again. */
export function afterCut(before: Disk, after: Disk, { written, taken }: Ledger): void {
  const [seen, left] = [treeOf(before), treeOf(after)]
  for (const [path, content] of Object.entries(left)) {
    if (content !== null && !written.has(content) && content !== OUTSIDE.folder)
      throw new Broken(
        `I5: after the power cut ${path} holds ${JSON.stringify(content.slice(0, 60))}, which nobody wrote.`,
      )
  }
  for (const row of agreedOn(after)) {
    const [was, is] = [at(before, seen, row.path)[0], at(after, left, row.path)[0]]
    const isMadeAgain = [...taken].some((place) =>
      keyOfPath(`${after.mount}${row.path}/`).startsWith(keyOfPath(`${place}/`)),
    )
    const agreed =
      row.kind === 'dir' ? was === null && !isMadeAgain : typeof was === 'string' && sha256Of(was) === row.sha256
    if (agreed && was !== is) throw new Broken(`I6: base had ${row.path} before it was durable.`)
  }
}

/** What must hold when nobody changes anything any more. */
export function atRest(disks: readonly Disk[], server: Record<string, string | null>, ledger: Ledger): void {
  const told = (tree: Record<string, string | null>, isLoose: boolean): string =>
    JSON.stringify(
      Object.entries(tree)
        .map(([path, content]) => [isLoose ? keyOfPath(path) : path.normalize('NFC'), content] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  for (const disk of disks) {
    const [here, expected] = [treeOf(disk), server].map((tree) => told(tree, disk.kind !== 'exact'))
    if (here !== expected) throw new Broken(`I2: ${disk.mount} holds ${here}, the server ${expected}.`)
    if (disk.get('stat', OUTSIDE.file).data.toString() !== OUTSIDE.content)
      throw new Broken('I7: what lies outside was changed.')
    if (disk.names('readdir', OUTSIDE.folder).length !== 1) throw new Broken('I7: something was put outside.')
  }
  const live = new Set(Object.values(server))
  for (const content of live) {
    if (content !== null && !ledger.written.has(content))
      throw new Broken(`I4: nobody wrote ${JSON.stringify(content.slice(0, 60))}.`)
  }
  for (const content of ledger.written) {
    if (!ledger.released.has(content) && !live.has(content))
      throw new Broken(`I1: ${JSON.stringify(content.slice(0, 60))} is lost.`)
  }
}
