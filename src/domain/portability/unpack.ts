import { insertConversation, insertTurn } from '../../storage/assistant/conversations.ts'
import { insertApp } from '../../storage/desktop/apps.ts'
import { activate, insertVersion, insertWholeProfile } from '../../storage/desktop/components.ts'
import { assertApp, readComponent } from '../desktop/desktop.ts'
import { nameKey, segmentOf, type FileEntry } from '../files/files.ts'
import { pauseForOthers } from '../heavy.ts'
import { insertRowsIn, type WholeRow } from '../sync/sync.ts'
import { BadArchive } from './bad-archive.ts'
import { chatDocument } from './chat-document.ts'
import type { Contained } from './examine.ts'
import type { ImportParts } from './parts.ts'
import { entriesOf, jsonLines, jsonOf, discardBody, type ArchiveEntry } from './read.ts'
import * as records from './records.ts'

/** The account that receives an archive. */
export interface Receiver extends Pick<ImportParts, 'database' | 'clock' | 'audit' | 'policy'> {
  user: number
  contained: Contained
  withoutChats: boolean
  /** IDs of the stored conversations, by those in the archive. */
  conversations: Map<number, number>
  /** Descriptions of what was left out. */
  leftOut: string[]
}

/** Rows per commit, and bytes of their lines: few enough that a running server hardly waits. */
const GROUP = 200
const GROUP_BYTES = 1_048_576

const JSON_BYTES = 64 * 1024 * 1024

/** Stores everything but files; yields files and folders, each to be read before the next. */
export async function* importedFiles(
  source: AsyncIterable<Uint8Array>,
  receiver: Receiver,
): AsyncGenerator<{ entry: FileEntry; size: number }, undefined> {
  const { contained } = receiver
  const chats = makeChats(contained)
  for await (const entry of entriesOf(source)) {
    const { part } = entry
    if ('room' in part && receiver.withoutChats) await discardBody(entry)
    else {
      switch (part.kind) {
        case 'file':
        case 'folder':
          yield asFile(entry, part.path, contained)
          break
        case 'room file':
        case 'room folder':
          yield asFile(entry, chats.folderOf(part.room) + part.path, contained)
          break
        case 'room':
          chats.begin(part.room, records.readRoom(await jsonOf(entry, JSON_BYTES), entry.name))
          break
        case 'messages':
          yield chats.document(part.room, entry)
          break
        default:
          await store(receiver, entry)
      }
    }
    assertSame(entry, contained)
  }
  return undefined
}

/** Rejects an entry that changed since the archive was validated. */
function assertSame(entry: ArchiveEntry, { hashes }: Contained): void {
  const [known, now] = [hashes.get(entry.name), entry.sha256()]
  if (known !== undefined && now !== undefined && now !== known)
    throw new BadArchive(`"${entry.name}" was changed meanwhile`)
}

function asFile({ name, part, size, mtime, body }: ArchiveEntry, path: string, { hashes }: Contained) {
  const isFolder = part.kind === 'folder' || part.kind === 'room folder'
  const kind = isFolder ? ('directory' as const) : ('file' as const)
  return {
    entry: { path, kind, mtime, sha256: hashes.get(name), ifSha256: isFolder ? undefined : 'absent', body },
    size,
  }
}

const documentOf = (room: string): string => `${room}.md`

/** What a room takes of the folder of chats: the folder with its files, and its document. */
const keysOf = (room: string): string[] => [nameKey(room), nameKey(documentOf(room))]

/** Stores chats as documents in a new folder of the root. */
function makeChats({ account, roots }: Contained) {
  let top = 'Chats'
  for (let number = 2; roots.has(nameKey(top)); number += 1) top = `Chats (${number})`
  const rooms = new Map<number, { record: records.RoomRecord; name: string }>()
  const taken = new Set<string>()
  const exportedAt = Math.floor(Date.parse(account.exported_at) / 1_000)

  return {
    begin(room: number, record: records.RoomRecord): void {
      const plain = segmentOf(record.name)
      let name = plain
      for (let number = 2; keysOf(name).some((key) => taken.has(key)); number += 1) name = `${plain} (${number})`
      for (const key of keysOf(name)) taken.add(key)
      rooms.set(room, { record, name })
    },
    folderOf: (room: number): string => `/${top}/${rooms.get(room)!.name}`,
    document(room: number, entry: ArchiveEntry): { entry: FileEntry; size: number } {
      const { record, name } = rooms.get(room)!
      async function* messages() {
        for await (const { value, where } of jsonLines(entry)) yield records.readMessage(value, where)
      }
      const body = chatDocument(record, messages(), account.exported_at)
      const path = `/${top}/${documentOf(name)}`
      const file = { path, kind: 'file' as const, mtime: exportedAt, sha256: undefined, ifSha256: 'absent', body }
      return { entry: file, size: entry.size }
    },
  }
}

async function store(receiver: Receiver, entry: ArchiveEntry): Promise<void> {
  const { part } = entry
  if (part.kind === 'rows') {
    const { table } = part
    return inGroups(
      entry,
      (value, where) => records.readRow(table, value, where),
      (rows) => storeRows(receiver, rows),
    )
  }
  if (part.kind === 'components')
    return inGroups(entry, records.readVersion, (some) => storeVersions(receiver, some), 20)
  if (part.kind === 'profiles') return inGroups(entry, records.readProfile, (some) => storeProfiles(receiver, some), 1)
  if (part.kind === 'apps') return inGroups(entry, records.readApp, (some) => storeApps(receiver, some))
  if (part.kind === 'conversations')
    return inGroups(entry, records.readConversation, (some) => storeConversations(receiver, some))
  if (part.kind === 'conversation_messages')
    return inGroups(entry, records.readAssistantMessage, (some) => storeAssistantMessages(receiver, some), 20)
  await discardBody(entry)
}

async function inGroups<T>(
  entry: ArchiveEntry,
  read: (value: unknown, where: string) => T,
  store: (some: T[]) => Promise<void>,
  size = GROUP,
): Promise<void> {
  let group: T[] = []
  let room = GROUP_BYTES
  for await (const { value, where, bytes } of jsonLines(entry)) {
    group.push(read(value, where))
    room -= bytes
    if (group.length < size && room > 0) continue
    await store(group)
    await pauseForOthers()
    group = []
    room = GROUP_BYTES
  }
  if (group.length > 0) await store(group)
}

const storeRows = ({ database, clock, user }: Receiver, rows: WholeRow[]): Promise<void> =>
  database.write({ accounts: [user] }, async (tx) => void (await insertRowsIn(tx, user, rows, clock.now())))

const storeVersions = ({ database, user }: Receiver, versions: records.ComponentRecord[]): Promise<void> =>
  database.write({ accounts: [user] }, async (tx) => {
    for (const { version, is_active, updated_at, ...component } of versions) {
      const content = { ...readComponent(component), version }
      await insertVersion(tx, user, content, Number.MAX_SAFE_INTEGER, Date.parse(updated_at))
      if (is_active) await activate(tx, user, component.component_id, version)
    }
  })

const storeProfiles = ({ database, user }: Receiver, profiles: records.ProfileRecord[]): Promise<void> =>
  database.write({ accounts: [user] }, async (tx) => {
    for (const { name, is_default, created_at, components } of profiles) {
      const profile = { name, is_default: is_default ? 1 : 0, created_at: Date.parse(created_at) }
      await insertWholeProfile(tx, user, profile, components.map(readComponent))
    }
  })

async function storeApps({ database, clock, audit, user, policy, leftOut }: Receiver, apps: records.AppRecord[]) {
  const { allowedOrigins } = await policy()
  await database.write('instance', async (tx) => {
    for (const { supports_context, ...app } of apps) {
      try {
        assertApp(app, allowedOrigins)
      } catch (error) {
        leftOut.push(`app ${app.slug}: ${(error as Error).message}`)
        continue
      }
      const flags = { supports_context: supports_context ? 1 : 0, is_system: 0, admin_only: 0, created_by: user }
      const id = await insertApp(tx, { ...app, ...flags }, clock.now())
      if (id === undefined) leftOut.push(`app ${app.slug}: there is one of that name here.`)
      else await audit.record(tx, { kind: 'app.created', about: user, detail: { slug: app.slug, is_system: false } })
    }
  })
}

/** An archive can forge answers of the assistant, so imported conversations count as untrusted. */
const storeConversations = (
  { database, user, conversations }: Receiver,
  some: records.ConversationRecord[],
): Promise<void> =>
  database.write({ accounts: [user] }, async (tx) => {
    for (const { id, title, created_at, updated_at } of some) {
      const stamps = { created_at: Date.parse(created_at), updated_at: Date.parse(updated_at) }
      conversations.set(id, await insertConversation(tx, { user_id: user, title, tainted: 1, ...stamps }))
    }
  })

/** Messages are imported; pending confirmations are not. */
const storeAssistantMessages = (
  { database, user, conversations }: Receiver,
  some: records.AssistantMessageRecord[],
): Promise<void> =>
  database.write({ accounts: [user] }, async (tx) => {
    for (const { conversation_id, role, content, actions, at } of some) {
      const conversation = conversations.get(conversation_id)!
      const done = JSON.stringify(actions.filter(({ type }) => type !== 'confirm'))
      await insertTurn(tx, { conversation, role, content, actions: done, now: Date.parse(at) })
    }
  })
