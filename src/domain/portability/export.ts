import { iso, MINUTE } from '../../base/clock.ts'
import { tarEnd } from '../../base/tar-writer.ts'
import { fault } from '../../contract/errors.ts'
import { tables, type TableName } from '../../contract/tables.ts'
import { accountById, accountByName, type Account } from '../../storage/accounts/accounts.ts'
import { visibleApps } from '../../storage/desktop/apps.ts'
import { headOf } from '../../storage/feed/changes.ts'
import { messagesAfter } from '../../storage/chat/messages.ts'
import { reactionsTo, type Reaction } from '../../storage/chat/reactions.ts'
import { membersOf, roomsOf, type Person, type Room } from '../../storage/chat/rooms.ts'
import { holdCollector } from '../../storage/contents/collector-holds.ts'
import { componentsOfProfile, profilesOf, versionsAfter } from '../../storage/desktop/components.ts'
import type { Reader } from '../../storage/engine/database.ts'
import { normalName } from '../accounts/accounts.ts'
import { walkOwnTree, walkRoom, type TreeEntry } from '../files/files.ts'
import { rowsOf } from '../sync/sync.ts'
import { writeAssistant } from './export-assistant.ts'
import { fileName, FORMAT, FORMAT_VERSION, messagesName, names, roomFileName, roomName, rowsName } from './layout.ts'
import type { ExportParts } from './parts.ts'
import { makeTar, once, type WritePiece, type Tar } from './tar.ts'

export interface Export {
  username: string
  /** Bytes of its own files, for a progress bar: the archive is slightly larger. */
  bytes: number
  /** The archive, from one snapshot of the account. */
  archive: AsyncIterable<Uint8Array>
}

const encoder = new TextEncoder()

const README = `This is an account of an svc server: what it held when the archive was made.

account.json            whose it is
rows/                   notes, tasks, events and the like, one JSON object a line
files/                  the files
components.jsonl        styles, hooks and widgets of the desktop, all versions
profiles.jsonl          profiles of them
apps.jsonl              apps the user made
assistant/              conversations with the assistant, and what it changed
rooms/                  chat rooms the user was in, with what was said there and their files
manifest.json           every entry with its size and SHA-256

Passwords, second factors, devices, sessions, the trash and earlier versions of files are not in it.
svc user import makes an account of it, on this or another server.
`

/** Interval of renewing the hold that protects contents to be read. */
const RENEW_EVERY = 2 * MINUTE

/** Writes an account as an archive: a tar file with the entries of `layout.ts`. */
export const makeExport = (parts: ExportParts) => ({
  /** Fault `not_found`. */
  async exportAccount(username: string): Promise<Export> {
    const { database } = parts
    const account = await accountByName(database.read, normalName(username))
    if (!account) throw fault('not_found', { text: `There is no user named "${username}".` })
    const { used_bytes } = (await headOf(database.read, account.id))!
    return { username: account.username, bytes: used_bytes, archive: archiveOf(parts, account) }
  },
})

async function* archiveOf(parts: ExportParts, account: Account): AsyncGenerator<Uint8Array> {
  const { database, audit } = parts
  const hold = await holdCollector(database)
  const renewal = setInterval(() => void hold.renew().catch(() => undefined), RENEW_EVERY)
  renewal.unref()
  try {
    // The pieces are yielded while the snapshot is open, so later changes are not in the archive.
    yield* pull((write) => database.snapshot((at) => writeAll(parts, at, account.id, write)))
    await database.write({ accounts: [account.id] }, (tx) =>
      audit.record(tx, { kind: 'user.exported', about: account.id }),
    )
  } finally {
    clearInterval(renewal)
    await hold.release()
  }
}

/** Yields the pieces passed to `give`, each when the previous one was consumed. */
async function* pull(work: (write: WritePiece) => Promise<void>): AsyncGenerator<Uint8Array> {
  let offer: ((piece: IteratorResult<Uint8Array, void>) => void) | undefined
  let taken: (() => void) | undefined
  let fail: ((error: unknown) => void) | undefined
  let isOver = false
  const next = () =>
    new Promise<IteratorResult<Uint8Array, void>>((resolve, reject) => {
      offer = resolve
      fail = reject
      taken?.()
    })
  const started = next()
  const working = work(async (piece) => {
    if (isOver) throw new Error('Nobody reads the archive any more.')
    const ready = new Promise<void>((resolve) => (taken = resolve))
    offer!({ value: piece, done: false })
    await ready
  })
  working.then(
    () => offer!({ value: undefined, done: true }),
    (error: unknown) => fail!(error),
  )
  try {
    for (let piece = await started; !piece.done; piece = await next()) yield piece.value
  } finally {
    isOver = true
    taken?.()
    await working.catch(() => undefined)
  }
}

async function writeAll(parts: ExportParts, at: Reader, id: number, write: WritePiece): Promise<void> {
  const { clock, identity, version } = parts
  // Read before any output: the snapshot begins with the first query.
  const account = await accountById(at, id)
  if (!account) throw fault('not_found', { text: 'The account has just been removed.' })
  const now = Math.floor(clock.now() / 1_000)
  const tar = makeTar(write, now)
  await tar.text(names.readme, README)
  await tar.text(names.account, `${JSON.stringify(aboutAccount(account, { clock, identity, version }), null, 2)}\n`)
  for (const table of Object.keys(tables) as TableName[])
    await tar.lines(rowsName(table), () => rowsOf(at, account.id, table))
  await tar.lines(names.components, () => componentsOf(at, account.id))
  await tar.lines(names.profiles, () => wholeProfilesOf(at, account.id))
  await tar.lines(names.apps, () => appsOf(at, account.id))
  await writeAssistant(tar, at, account.id)
  await writeTree(parts, tar, walkOwnTree(at, account.id), fileName)
  await writeRooms(parts, tar, at, account.id)
  const manifest = { format: FORMAT, version: FORMAT_VERSION, entries: tar.entries }
  const text = encoder.encode(`${JSON.stringify(manifest)}\n`)
  await tar.put(names.manifest, now, { size: text.length }, once(text))
  await write(tarEnd())
}

const aboutAccount = (
  account: Account,
  { clock, identity, version }: Pick<ExportParts, 'clock' | 'identity' | 'version'>,
) => ({
  format: FORMAT,
  version: FORMAT_VERSION,
  svc_version: version,
  server_id: identity.server_id,
  exported_at: iso(clock.now()),
  username: account.username,
  display_name: account.display_name,
  avatar_color: account.avatar_color,
  role: account.role,
  quota_bytes: account.quota_bytes,
  created_at: iso(account.created_at),
})

async function writeTree(
  { contents }: ExportParts,
  tar: Tar,
  tree: AsyncIterable<TreeEntry>,
  nameOf: (path: string) => string,
): Promise<void> {
  for await (const { path, sha256, size, mtime } of tree) {
    if (sha256 === null) {
      await tar.folder(nameOf(path))
      continue
    }
    const content = await contents.read(sha256)
    await tar.put(
      nameOf(path),
      mtime,
      { size, sha256 },
      Buffer.isBuffer(content) ? once(content) : (content as AsyncIterable<Uint8Array>),
    )
  }
}

const VERSIONS = 20

async function* componentsOf(at: Reader, user: number): AsyncGenerator<unknown> {
  for (let after = 0; ;) {
    const page = await versionsAfter(at, user, after, VERSIONS)
    for (const { id: _, metadata, is_active, updated_at, ...version } of page)
      yield {
        ...version,
        metadata: JSON.parse(metadata) as unknown,
        is_active: is_active === 1,
        updated_at: iso(updated_at),
      }
    if (page.length < VERSIONS) return
    after = page.at(-1)!.id
  }
}

async function* wholeProfilesOf(at: Reader, user: number): AsyncGenerator<unknown> {
  const profiles = new Map((await profilesOf(at, user)).map((profile) => [profile.id, profile]))
  for (const { id, name, is_default, created_at } of profiles.values()) {
    const components = (await componentsOfProfile(at, user, id)) ?? []
    yield {
      name,
      is_default: is_default === 1,
      created_at: iso(created_at),
      components: components.map((one) => ({ ...one, metadata: JSON.parse(one.metadata) as unknown })),
    }
  }
}

async function* appsOf(at: Reader, user: number): AsyncGenerator<unknown> {
  for (const app of await visibleApps(at, user)) {
    const { slug, name, description, icon_url, app_path, category, supports_context, created_by } = app
    if (created_by === user)
      yield { slug, name, description, icon_url, app_path, category, supports_context: supports_context === 1 }
  }
}

async function writeRooms(parts: ExportParts, tar: Tar, at: Reader, user: number): Promise<void> {
  const rooms = (await roomsOf(at, user)).sort((a, b) => a.id - b.id)
  for (const [index, room] of rooms.entries()) {
    const number = index + 1
    const members = await membersOf(at, room.id, user)
    await tar.text(roomName(number), `${JSON.stringify(aboutRoom(room, members), null, 2)}\n`)
    await tar.lines(messagesName(number), () => messagesOf(at, room.id, members))
    await writeTree(parts, tar, walkRoom(at, room.id), (path) => roomFileName(number, path))
  }
}

const aboutRoom = ({ name, type, created_at }: Room, members: readonly Person[]) => ({
  name,
  type,
  created_at: iso(created_at),
  members: members.map(({ username, display_name }) => ({ username, display_name })),
})

const MESSAGES = 200

async function* messagesOf(at: Reader, room: number, members: readonly Person[]): AsyncGenerator<unknown> {
  const nameOf = new Map(members.map(({ id, username }) => [id, username]))
  for (let after = -1; ;) {
    const page = await messagesAfter(at, { room, after, limit: MESSAGES })
    const reactions = await reactionsTo(
      at,
      page.filter(({ changed_at }) => changed_at > 0).map(({ id }) => id),
    )
    for (const message of page) {
      const { id, username, display_name, content, timestamp, edited_at, reply_to, is_assistant } = message
      yield {
        id,
        from: username,
        name: display_name,
        text: content,
        at: iso(timestamp),
        edited_at: edited_at === null ? null : iso(edited_at),
        reply_to,
        is_assistant: is_assistant === 1,
        reactions: byEmoji(
          reactions.filter(({ message_id }) => message_id === id),
          nameOf,
        ),
      }
    }
    if (page.length < MESSAGES) return
    after = page.at(-1)!.timestamp
  }
}

function byEmoji(reactions: readonly Reaction[], nameOf: ReadonlyMap<number, string>) {
  const users = new Map<string, string[]>()
  for (const { emoji, user_id } of reactions) {
    const name = nameOf.get(user_id) ?? `#${user_id}`
    users.set(emoji, [...(users.get(emoji) ?? []), name])
  }
  return [...users].map(([emoji, names]) => ({ emoji, users: names }))
}
