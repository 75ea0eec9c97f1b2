import { accountById } from '../../storage/accounts/accounts.ts'
import { messageState } from '../../storage/chat/messages.ts'
import { isMember } from '../../storage/chat/rooms.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import { rememberSeeded, seededAmong, type Seeded } from '../../storage/instance/seeded.ts'
import { normalName } from '../accounts/accounts.ts'
import { inviteIn, openRoomIn, postIn, type Author } from '../chat/chat.ts'
import { pauseForOthers } from '../heavy.ts'
import { peopleOf, roomKey } from './check.ts'
import { hashOf, remember, type Person, type Planning, type SeedProgress } from './seed-context.ts'
import type { SeedRoom } from './seed-schema.ts'

type SeedMessage = NonNullable<SeedRoom['messages']>[number]

export interface RoomTask {
  room: SeedRoom
  creator: Person
  /** Undefined until it is created. */
  id: number | undefined
  /** Whether an earlier run recorded it. */
  isNoted: boolean
  join: Person[]
  post: SeedMessage[]
  edit: { message: SeedMessage; before: Seeded }[]
  /** IDs of messages by those in the seed. */
  ids: Map<string, number>
}

export const [ROOM, MEMBER, MESSAGE] = ['room', 'member', 'message'] as const

/** Messages per commit. */
const GROUP = 200

/** Key of an item in a room, among those seeded for the room's creator. */
export const inRoom = (room: SeedRoom, key: string): string => `${roomKey(room)}/${key}`

export const hashOfMessage = ({ from, text }: SeedMessage): string => hashOf(normalName(from), text)

/** Creates a room or adds to it: members, then messages in order. */
export async function fillRoom(planning: Planning, task: RoomTask, watcher: SeedProgress): Promise<void> {
  const { database } = planning
  const step = async (count: number, work: (tx: Writer) => Promise<void>) => {
    await database.write('instance', work)
    watcher.done(count)
  }
  const isNew = task.id === undefined
  if (!task.isNoted || task.join.length > 0)
    await step(task.join.length + (isNew ? 1 : 0), (tx) => openIn(tx, planning, task))
  for (let first = 0; first < task.post.length; first += GROUP) {
    const group = task.post.slice(first, first + GROUP)
    if (first > 0) await pauseForOthers()
    await step(group.length, (tx) => postAllIn(tx, planning, task, group))
  }
  for (const { message, before } of task.edit) {
    await edit(planning, task, message, before)
    watcher.done(1)
  }
}

const noted = (kind: string, key: string, hash: string, target: number, version: number | null): Seeded => ({
  kind,
  key,
  hash,
  target,
  version,
})

async function openIn(tx: Writer, { people, clock }: Planning, task: RoomTask): Promise<void> {
  const { room, creator, join } = task
  const everybody = peopleOf(room).map((name) => people.get(name)!)
  if (task.id === undefined) {
    const ids = everybody.map(({ id }) => id!).sort((a, b) => a - b)
    const opened = { name: room.name.trim(), type: room.type ?? 'channel', users: ids }
    task.id = await openRoomIn(tx, creator.id!, opened, clock.now())
  } else if (join.length > 0) {
    const host = await hostIn(tx, task.id, everybody)
    const guests = join.map(({ id }) => id!)
    if (host !== undefined) await inviteIn(tx, task.id, host, guests, clock.now())
  }
  const members = everybody.slice(1).map(({ username, id }) => noted(MEMBER, inRoom(room, username), '', id!, null))
  await rememberSeeded(tx, creator.id!, [noted(ROOM, roomKey(room), '', task.id, null), ...members])
}

/** A member from the seed who can add others: the creator may have left. */
async function hostIn(tx: Writer, room: number, everybody: readonly Person[]): Promise<number | undefined> {
  for (const { id } of everybody) if (id !== undefined && (await isMember(tx, room, id))) return id
  return undefined
}

/** IDs in the seed; the prefix separates them from client IDs. */
const clientId = (creator: Person, id: string): string => `seed:${creator.id}:${hashOf(id).slice(0, 32)}`

async function editorOf(on: Reader, { people }: Planning, message: SeedMessage): Promise<Author> {
  const { id } = people.get(normalName(message.from))!
  const { username, display_name, avatar_color, role } = (await accountById(on, id!))!
  return { id: id!, username, display_name, avatar_color, role }
}

async function postAllIn(
  tx: Writer,
  planning: Planning,
  task: RoomTask,
  messages: readonly SeedMessage[],
): Promise<void> {
  const { room, creator, id, ids } = task
  const keyOf = (message: SeedMessage) => inRoom(room, message.id)
  // Another run of the same seed may have posted some of them.
  const taken = await seededAmong(tx, creator.id!, MESSAGE, messages.map(keyOf))
  const entries: Seeded[] = []
  for (const message of messages) {
    if (taken.has(keyOf(message))) continue
    const author = await editorOf(tx, planning, message)
    const above = message.reply_to === undefined ? undefined : ids.get(message.reply_to)
    // Post the reply even if the message it answers is gone.
    const reply = above !== undefined && (await messageState(tx, above)) ? { reply_to: above } : {}
    const said = { room_id: id!, content: message.text, client_id: clientId(creator, message.id), ...reply }
    const { posted } = await postIn(tx, author, said, planning.clock.now())
    ids.set(message.id, posted.id)
    entries.push(noted(MESSAGE, keyOf(message), hashOfMessage(message), posted.id, 1))
  }
  await rememberSeeded(tx, creator.id!, entries)
}

async function edit(
  planning: Planning,
  { room, creator }: RoomTask,
  message: SeedMessage,
  { target }: Seeded,
): Promise<void> {
  const { chat, database } = planning
  const found = (await messageState(database.read, target!))!
  if (found.content !== message.text)
    await chat.edit(await editorOf(database.read, planning, message), { message_id: target!, content: message.text })
  const { version } = (await messageState(database.read, target!))!
  await remember(planning, creator, [
    noted(MESSAGE, inRoom(room, message.id), hashOfMessage(message), target!, version),
  ])
}
