import { messageState } from '../../storage/chat/messages.ts'
import { channelNamed, isMember, roomExists, roomOfPair } from '../../storage/chat/rooms.ts'
import type { Seeded } from '../../storage/instance/seeded.ts'
import { normalName } from '../accounts/accounts.ts'
import { peopleOf, roomKey } from './check.ts'
import { seededBefore, type Item, type Part, type Person, type Planning } from './seed-context.ts'
import type { Path } from './problems.ts'
import { fillRoom, hashOfMessage, inRoom, MEMBER, MESSAGE, ROOM, type RoomTask } from './rooms-fill.ts'
import type { SeedRoom } from './seed-schema.ts'

/** Created once; members who left and messages that were deleted are not added again. */
export async function planRooms(planning: Planning): Promise<Part> {
  const items: Item[] = []
  const tasks: RoomTask[] = []
  let unchanged = 0
  for (const { path, value: room } of planning.seed.rooms) {
    if (hasUnknownMembers(planning, room, path)) continue
    const creator = planning.people.get(normalName(room.creator))!
    const before = seededBefore(creator, ROOM, roomKey(room))
    const id = await roomOf(planning, room, creator, before)
    if (before && id === undefined) {
      items.push({ action: 'keep', kind: 'room', text: `room ${room.name}: was removed` })
      continue
    }
    const task: RoomTask = {
      room,
      creator,
      id,
      isNoted: before !== undefined,
      join: [],
      post: [],
      edit: [],
      ids: new Map(),
    }
    if (id === undefined) items.push({ action: 'add', kind: 'room', text: `room ${room.name}` })
    else unchanged += 1
    unchanged += await planMembers(planning, task, items)
    unchanged += await planMessages(planning, task, items)
    tasks.push(task)
  }
  return {
    items,
    unchanged,
    async apply(watcher) {
      for (const task of tasks) await fillRoom(planning, task, watcher)
    },
  }
}

/** Reports members who are neither in the seed nor on the server, or cannot sign in. */
function hasUnknownMembers({ people, seed, problems }: Planning, room: SeedRoom, path: Path): boolean {
  const missing = peopleOf(room).filter((name) => {
    const account = people.get(name)?.account
    return account ? account.disabled_at !== null : !seed.names.has(name)
  })
  for (const name of missing) {
    const at = (room.members ?? []).findIndex((member) => normalName(member) === name)
    const place = at < 0 ? [...path, 'creator'] : [...path, 'members', at]
    problems.push({ path: place, message: `there is no user "${name}" who can sign in` })
  }
  return missing.length > 0
}

/** The existing room, created by an earlier seed or by its creator. */
async function roomOf(
  { database, people }: Planning,
  room: SeedRoom,
  creator: Person,
  before: Seeded | undefined,
): Promise<number | undefined> {
  if (creator.id === undefined) return undefined
  if (before) return (await roomExists(database.read, before.target!)) ? before.target! : undefined
  if (room.type !== 'dm') return channelNamed(database.read, room.name.trim(), creator.id)
  const ids = peopleOf(room).map((name) => people.get(name)!.id)
  if (ids.includes(undefined)) return undefined
  return roomOfPair(database.read, (ids as number[]).toSorted((a, b) => a - b).join(':'))
}

async function planMembers({ database, people }: Planning, task: RoomTask, items: Item[]): Promise<number> {
  const { room, creator, id } = task
  let unchanged = 0
  // A direct conversation is created with both members.
  if (room.type === 'dm') return 0
  for (const name of peopleOf(room).slice(1)) {
    const person = people.get(name)!
    const known = seededBefore(creator, MEMBER, inRoom(room, name))
    const isIn = id !== undefined && person.id !== undefined && (await isMember(database.read, id, person.id))
    if (known || isIn) {
      unchanged += 1
      continue
    }
    task.join.push(person)
    items.push({ action: 'add', kind: 'member', text: `${name} in room ${room.name}` })
  }
  return unchanged
}

async function planMessages({ database, people }: Planning, task: RoomTask, items: Item[]): Promise<number> {
  const { room, creator, id } = task
  let unchanged = 0
  for (const message of room.messages ?? []) {
    const text = `message ${message.id} in room ${room.name}`
    const keep = (why: string) => items.push({ action: 'keep', kind: 'message', text: `${text}: ${why}` })
    const before = seededBefore(creator, MESSAGE, inRoom(room, message.id))
    if (before) task.ids.set(message.id, before.target!)
    if (before?.hash === hashOfMessage(message)) {
      unchanged += 1
      continue
    }
    const author = people.get(normalName(message.from))!
    const isThere = id === undefined || task.join.includes(author)
    if (!isThere && (author.id === undefined || !(await isMember(database.read, id, author.id)))) {
      keep(`${author.username} has left the room`)
    } else if (!before) {
      task.post.push(message)
      items.push({ action: 'add', kind: 'message', text })
    } else {
      const found = await messageState(database.read, before.target!)
      if (!found) keep('was removed')
      else if (found.user_id !== author.id) keep('was written by somebody else')
      else if (found.version !== before.version && found.content !== message.text) keep('was changed by its author')
      else {
        task.edit.push({ message, before })
        items.push({ action: 'change', kind: 'message', text })
      }
    }
  }
  return unchanged
}
