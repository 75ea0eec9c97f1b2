import { createHash } from 'node:crypto'
import { headOf } from '../../storage/feed/changes.ts'
import { childOf, rootOf, type Node } from '../../storage/files/nodes.ts'
import type { Seeded } from '../../storage/instance/seeded.ts'
import { UPLOAD_BATCH } from '../../contract/limits.ts'
import { fault } from '../../contract/errors.ts'
import { formatSize } from '../../base/sizes.ts'
import { nameKey, ownSegments, type FileEntry } from '../files/files.ts'
import { fileTime, quotaBytes } from './check.ts'
import { hashOf, personOf, remember, seededBefore, SourceError } from './seed-context.ts'
import type { Item, Part, Person, Planning, SeedProgress } from './seed-context.ts'
import { nameOf, objection, type Path } from './problems.ts'
import type { SeedFile, SeedUser } from './seed-schema.ts'

interface Wanted {
  /** Its path in the seed. */
  said: Path
  path: string
  isFolder: boolean
  size: number
  /** Seconds; undefined for the current time. */
  mtime: number | undefined
  open(): AsyncIterable<Uint8Array>
  /** Computed on first use. */
  sha256?: string
}

interface Task {
  person: Person
  file: Wanted
  /** Hash of the content to replace; undefined for a new file. */
  replaces: string | undefined
}

const FILE = 'file'
const FOLDER = hashOf('folder')

/** Created once, and replaced when the seed changes, unless someone else has changed them. */
export async function planFiles(planning: Planning): Promise<Part> {
  const items: Item[] = []
  const tasks: Task[] = []
  const adopted: Task[] = []
  let unchanged = 0
  for (const { path, value: user } of planning.seed.users) {
    const person = personOf(planning, user)
    const own: Task[] = []
    for (const file of await wantedOf(planning, user, [...path, 'files'])) {
      const { action, why = '', node } = await decide(planning, person, file)
      const task = { person, file, replaces: node?.sha256 ?? undefined }
      if (action === 'same' || action === 'adopt') unchanged += 1
      else {
        const text = `${file.isFolder ? 'folder' : 'file'} ${file.path} of ${person.username}${why}`
        items.push({ action, kind: 'file', text })
      }
      if (action === 'adopt') adopted.push(task)
      if (action === 'add' || action === 'change') own.push(task)
    }
    await refuseTooMuch(planning, user, own, [...path, 'files'])
    tasks.push(...own)
  }
  return { items, unchanged, apply: (watcher) => apply(planning, tasks, adopted, watcher) }
}

async function* piece(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes)
}

/** Every file and folder of a user, with trees expanded. */
async function wantedOf(planning: Planning, user: SeedUser, path: Path): Promise<Wanted[]> {
  const { problems } = planning
  const wanted = new Map<string, Wanted>()
  for (const [index, file] of (user.files ?? []).entries()) {
    const said = [...path, index]
    for (const one of await unpackArchive(planning, file, said)) {
      // Paths in the seed itself were checked before.
      const message = one.path === file.path ? undefined : objection(() => ownSegments(one.path))
      if (message !== undefined) problems.push({ path: said, message: `${one.path}: ${message}` })
      const other = wanted.get(nameKey(one.path))
      if (other && !(other.isFolder && one.isFolder))
        problems.push({ path: said, message: `${one.path} is also what ${nameOf(other.said.slice(2, 4))} makes` })
      wanted.set(nameKey(one.path), one)
    }
  }
  for (const one of wanted.values()) {
    const above = outerPaths(nameKey(one.path)).find((outer) => wanted.get(outer)?.isFolder === false)
    if (above !== undefined)
      problems.push({ path: one.said, message: `${one.path} is below ${above}, which is a file here` })
  }
  return [...wanted.values()]
}

/** The parent folders of a path, outermost first. */
function outerPaths(path: string): string[] {
  const outer: string[] = []
  for (let slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1))
    outer.push(path.slice(0, slash))
  return outer
}

async function unpackArchive({ sources, problems }: Planning, file: SeedFile, said: Path): Promise<Wanted[]> {
  const { path, text, base64, from, folder } = file
  const mtime = file.mtime === undefined ? undefined : fileTime(file.mtime)
  if (folder) return [{ said, path, isFolder: true, size: 0, mtime, open: () => piece(Buffer.alloc(0)) }]
  if (from === undefined) {
    const bytes = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text)
    return [{ said, path, isFolder: false, size: bytes.length, mtime, open: () => piece(bytes) }]
  }
  const place = [...said, 'from']
  try {
    const found = await sources.inspect(from)
    if (found.kind === 'file') {
      const open = () => sources.read(from)
      return [{ said, path, isFolder: false, size: found.size, mtime: mtime ?? found.mtime, open }]
    }
    const top = { said: place, path, isFolder: true, size: 0, mtime, open: () => piece(Buffer.alloc(0)) }
    const below = found.entries.map((entry) => ({
      said: place,
      path: `${path}/${entry.path}`,
      isFolder: entry.kind === 'folder',
      size: entry.size,
      mtime: mtime ?? entry.mtime,
      open: () => sources.read(`${from}/${entry.path}`),
    }))
    return [top, ...below]
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    problems.push({ path: place, message: error.message })
    return []
  }
}

async function contentHash(file: Wanted): Promise<string> {
  if (file.isFolder) return FOLDER
  if (file.sha256 === undefined) {
    const hash = createHash('sha256')
    for await (const chunk of file.open()) hash.update(chunk)
    file.sha256 = hash.digest('hex')
  }
  return file.sha256
}

/** The node at a path of an account; `file above` if a parent is a file. */
async function nodeAt({ database }: Planning, user: number, path: string): Promise<Node | 'file above' | undefined> {
  let parent = await rootOf(database.read, user)
  const segments = path.slice(1).split('/')
  for (const [depth, name] of segments.entries()) {
    const node = await childOf(database.read, parent, nameKey(name))
    if (!node || depth === segments.length - 1) return node
    if (node.type === 'file') return 'file above'
    parent = node.id
  }
  return undefined
}

interface Decision {
  action: Item['action'] | 'same' | 'adopt'
  why?: string
  node?: Node
}

async function decide(planning: Planning, person: Person, file: Wanted): Promise<Decision> {
  if (person.id === undefined) return { action: 'add' }
  const before = seededBefore(person, FILE, file.path)
  if (before && before.hash === (await contentHash(file))) return { action: 'same' }
  const node = await nodeAt(planning, person.id, file.path)
  const blocked = node === 'file above' || (node && (node.type === 'directory') !== file.isFolder)
  if (blocked) {
    const what = node === 'file above' ? 'a file is in the way' : 'there is something else with that name'
    return { action: 'keep', why: `: ${what}` }
  }
  if (!node) return before ? { action: 'keep', why: ': was removed' } : { action: 'add' }
  if (file.isFolder) return { action: 'adopt' }
  if (node.sha256 === (await contentHash(file))) return { action: 'adopt' }
  if (!before) return { action: 'keep', why: ': was there before' }
  return node.sha256 === before.hash
    ? { action: 'change', node }
    : { action: 'keep', why: ': was changed by its owner' }
}

/** Reports a problem if a user's files exceed the quota, or one is too large. */
async function refuseTooMuch(planning: Planning, user: SeedUser, tasks: readonly Task[], path: Path): Promise<void> {
  const { database, problems, settings, seed } = planning
  const { 'files.max_size': limit, 'quota.default': standard } = { ...(await settings.values()), ...seed.settings }
  for (const { file } of tasks) {
    if (limit >= 0 && file.size > limit)
      problems.push({
        path: file.said,
        message: `${file.path} is larger than the ${formatSize(limit)} a file may have`,
      })
  }
  const person = personOf(planning, user)
  const own = user.quota === undefined ? person.account?.quota_bytes : quotaBytes(user.quota)
  const quota = own ?? standard
  if (quota < 0) return
  const used = person.id === undefined ? 0 : (await headOf(database.read, person.id))!.used_bytes
  const growth = tasks.reduce((sum, { file }) => sum + file.size, 0)
  if (growth > 0 && used + growth > quota) {
    const message = `need ${formatSize(used + growth)}, and ${person.username} may store ${formatSize(quota)}`
    problems.push({ path, message })
  }
}

async function apply(planning: Planning, tasks: Task[], adopted: Task[], watcher: SeedProgress): Promise<void> {
  for (const [person, own] of byPerson(adopted))
    await remember(
      planning,
      person,
      await Promise.all(own.map(async ({ file }) => entryOf(file.path, await contentHash(file)))),
    )
  for (const [person, own] of byPerson(tasks)) {
    for (let first = 0; first < own.length; first += UPLOAD_BATCH.max_entries)
      await upload(planning, person, own.slice(first, first + UPLOAD_BATCH.max_entries), watcher)
  }
}

function byPerson(tasks: readonly Task[]): Map<Person, Task[]> {
  const groups = new Map<Person, Task[]>()
  for (const task of tasks) {
    const own = groups.get(task.person)
    if (own) own.push(task)
    else groups.set(task.person, [task])
  }
  return groups
}

const entryOf = (path: string, hash: string): Seeded => ({ kind: FILE, key: path, hash, target: null, version: null })

/** Passes the content on and computes its hash. */
async function* hashed(file: Wanted): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256')
  for await (const chunk of file.open()) {
    hash.update(chunk)
    yield chunk
  }
  file.sha256 = hash.digest('hex')
}

async function upload(
  { files, clock, ...planning }: Planning,
  person: Person,
  tasks: readonly Task[],
  watcher: SeedProgress,
) {
  const now = Math.floor(clock.now() / 1_000)
  async function* entries(): AsyncIterable<FileEntry> {
    for (const { file, replaces } of tasks) {
      yield await Promise.resolve({
        path: file.path,
        kind: file.isFolder ? ('directory' as const) : ('file' as const),
        mtime: file.mtime ?? now,
        sha256: file.sha256,
        ifSha256: replaces ?? 'absent',
        body: file.sha256 === undefined ? hashed(file) : file.open(),
      })
      watcher.done(1)
    }
  }
  const { results } = await files.uploadAll(person.id!, entries())
  const done = tasks.filter((_, index) => results[index]!.ok)
  // Record what was stored even if something else was refused: the next run continues from there.
  await remember(
    { ...planning, files, clock },
    person,
    await Promise.all(done.map(async ({ file }) => entryOf(file.path, await contentHash(file)))),
  )
  const refused = results.find(({ ok }) => !ok)
  if (refused) {
    const text = `${refused.path} of ${person.username} could not be stored: ${refused.error} Run the seed again.`
    throw fault(refused.code === 'quota_exceeded' ? 'quota_exceeded' : 'conflict', { text })
  }
}
