import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { nameKey } from '../files/files.ts'
import { BadArchive } from './bad-archive.ts'
import { FORMAT, FORMAT_VERSION, names, type Part } from './layout.ts'
import { entriesOf, jsonLines, jsonOf, discardBody, type ArchiveEntry } from './read.ts'
import * as records from './records.ts'

/** Contents of a validated archive. */
export interface Contained {
  account: records.AccountRecord
  rows: Record<string, number>
  components: number
  profiles: number
  apps: number
  conversations: number
  conversation_messages: number
  /** Changes of the assistant, for reading only. */
  assistant_changes: number
  files: number
  folders: number
  bytes: number
  rooms: number
  messages: number
  room_files: number
  room_bytes: number
  largest: number
  /** Names in the root of the own files, normalised. */
  roots: ReadonlySet<string>
  /** Hashes of all entries by name. */
  hashes: ReadonlyMap<string, string>
}

/** Most entries of one archive; a record of each is kept in memory. */
const MAX_ENTRIES = 1_000_000

/** Most lines of each list; of components, 200 with 100 versions each. */
const MAX_LINES = {
  components: 20_000,
  profiles: 50,
  apps: 100,
  conversations: 100_000,
  conversation_messages: 10_000_000,
  assistant_changes: 10_000_000,
} as const

type List = keyof typeof MAX_LINES

const NONE: Record<List, number> = {
  components: 0,
  profiles: 0,
  apps: 0,
  conversations: 0,
  conversation_messages: 0,
  assistant_changes: 0,
}

const JSON_BYTES = 64 * 1024 * 1024
const MANIFEST_BYTES = 512 * 1024 * 1024

const Manifest = Compile(
  Type.Object({
    format: Type.Literal(FORMAT),
    version: Type.Integer({ minimum: 1 }),
    entries: Type.Array(Type.Object({ path: Type.String(), size: Type.Integer(), sha256: Type.String() })),
  }),
)

/** Validates a whole archive: names, types, order, every record, every hash. Throws `BadArchive`. */
export async function examine(source: AsyncIterable<Uint8Array>): Promise<Contained> {
  const seen = makeSeen()
  const lists = listReaders()
  const sums = { ...NONE, files: 0, folders: 0, bytes: 0 }
  const rooms = { rooms: 0, messages: 0, room_files: 0, room_bytes: 0 }
  const rows: Record<string, number> = {}
  const hashes = new Map<string, string>()
  const sizes = new Map<string, number>()
  let largest = 0
  let account: records.AccountRecord | undefined
  let isOver = false

  async function examineEntry(entry: ArchiveEntry): Promise<void> {
    const { part, size } = entry
    switch (part.kind) {
      case 'account':
        account = records.readAccount(await jsonOf(entry, JSON_BYTES), entry.name)
        return
      case 'rows':
        rows[part.table] = await each(entry, (value, where) => records.readRow(part.table, value, where))
        return
      case 'components':
      case 'profiles':
      case 'apps':
      case 'conversations':
      case 'conversation_messages':
      case 'assistant_changes':
        sums[part.kind] = await each(entry, lists[part.kind], MAX_LINES[part.kind])
        return
      case 'room':
        records.readRoom(await jsonOf(entry, JSON_BYTES), entry.name)
        rooms.rooms += 1
        return
      case 'messages':
        rooms.messages += await each(entry, records.readMessage)
        return
      case 'manifest':
        compare(await jsonOf(entry, MANIFEST_BYTES), hashes, sizes)
        isOver = true
        return
      case 'file':
        sums.files += 1
        sums.bytes += size
        break
      case 'folder':
        sums.folders += 1
        break
      case 'room file':
        rooms.room_files += 1
        rooms.room_bytes += size
        break
      case 'room folder':
      case 'readme':
        break
    }
    if (part.kind === 'file' || part.kind === 'room file') largest = Math.max(largest, size)
    await discardBody(entry)
  }

  for await (const entry of entriesOf(source)) {
    if (isOver) throw new BadArchive(`"${entry.name}" follows the manifest`)
    seen.add(entry)
    if (entry.part.kind !== 'readme' && entry.part.kind !== 'account' && !account)
      throw new BadArchive(`${names.account} is missing, or is not at the beginning`)
    await examineEntry(entry)
    const isFolder = entry.part.kind === 'folder' || entry.part.kind === 'room folder'
    if (entry.part.kind === 'manifest' || isFolder) continue
    hashes.set(entry.name, entry.sha256()!)
    sizes.set(entry.name, entry.size)
  }
  if (!account || !isOver) throw new BadArchive('its manifest is missing, so it may not be complete')
  return { account, rows, ...sums, ...rooms, largest, roots: seen.roots, hashes }
}

async function each(
  entry: ArchiveEntry,
  read: (value: unknown, where: string) => unknown,
  most = Infinity,
): Promise<number> {
  let count = 0
  for await (const { value, where } of jsonLines(entry)) {
    if (++count > most) throw new BadArchive(`${entry.name} has more than ${most} lines`)
    read(value, where)
  }
  return count
}

/** Parsers of the lists, which also reject inconsistent lines. */
function listReaders(): Record<List, (value: unknown, where: string) => unknown> {
  const versions = new Set<string>()
  const conversations = new Set<number>()
  return {
    components(value, where) {
      const { component_id, version } = records.readVersion(value, where)
      const name = JSON.stringify([component_id, version])
      if (versions.has(name)) throw new BadArchive(`${where}: this version is there already`)
      versions.add(name)
    },
    profiles: records.readProfile,
    apps: records.readApp,
    conversations(value, where) {
      const { id } = records.readConversation(value, where)
      if (conversations.has(id)) throw new BadArchive(`${where}: this conversation is there already`)
      conversations.add(id)
    },
    conversation_messages(value, where) {
      const { conversation_id } = records.readAssistantMessage(value, where)
      if (!conversations.has(conversation_id)) throw new BadArchive(`${where}: there is no such conversation before it`)
    },
    assistant_changes: records.readChanged,
  }
}

/** Rejects duplicate names, and names below a file. */
function makeSeen() {
  const taken = new Map<string, 'file' | 'folder'>()
  const roots = new Set<string>()
  const rooms = new Set<number>()
  let count = 0

  function checkTree(tree: string, path: string, kind: 'file' | 'folder', name: string): void {
    const key = nameKey(path)
    for (let slash = key.indexOf('/', 1); slash > 0; slash = key.indexOf('/', slash + 1)) {
      const above = tree + key.slice(0, slash)
      if (taken.get(above) === 'file') throw new BadArchive(`"${name}" is below a file`)
      taken.set(above, 'folder')
    }
    const own = tree + key
    const before = taken.get(own)
    if (before !== undefined && !(before === 'folder' && kind === 'folder'))
      throw new BadArchive(`there is more than one "${name}"`)
    taken.set(own, kind)
  }

  function checkRoom(part: Part, name: string): void {
    if (!('room' in part)) return
    if (part.kind === 'room') rooms.add(part.room)
    else if (!rooms.has(part.room)) throw new BadArchive(`"${name}" comes before its room`)
  }

  return {
    roots,
    add({ name, part }: ArchiveEntry): void {
      if (++count > MAX_ENTRIES) throw new BadArchive(`it has more than ${MAX_ENTRIES} entries`)
      checkRoom(part, name)
      if (part.kind === 'file' || part.kind === 'folder') {
        checkTree('files', part.path, part.kind, name)
        roots.add(nameKey(part.path.split('/')[1]!))
      } else if (part.kind === 'room file' || part.kind === 'room folder')
        checkTree(`room ${part.room}`, part.path, part.kind === 'room file' ? 'file' : 'folder', name)
      else if (taken.has(name)) throw new BadArchive(`there is more than one "${name}"`)
      else taken.set(name, 'file')
    },
  }
}

/** Compares the entries with the manifest. */
function compare(manifest: unknown, hashes: ReadonlyMap<string, string>, sizes: ReadonlyMap<string, number>): void {
  if (!Manifest.Check(manifest)) throw new BadArchive('its manifest is damaged, or not one of svc')
  if (manifest.version > FORMAT_VERSION) throw new BadArchive('it is from a newer version of svc, so update svc first')
  const listed = new Map(manifest.entries.map((entry) => [entry.path, entry]))
  for (const [name, hash] of hashes) {
    const entry = listed.get(name)
    if (!entry) throw new BadArchive(`"${name}" is not in the manifest`)
    if (entry.sha256 !== hash || entry.size !== sizes.get(name))
      throw new BadArchive(`"${name}" is not what the manifest says`)
  }
  const missing = manifest.entries.find(({ path }) => !hashes.has(path))
  if (missing || listed.size !== hashes.size) throw new BadArchive(`"${missing?.path ?? ''}" is missing`)
}
