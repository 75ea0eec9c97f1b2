import { fault, isFault } from '../../contract/errors.ts'
import { advance } from '../../storage/changes.ts'
import type { Reader, Writer } from '../../storage/database.ts'
import { childOf, extentOf, giveTree, hasChildren, recordSubtree, rootOf } from '../../storage/files.ts'
import { giveRoomFiles } from '../../storage/room-files.ts'
import { dropAllTrashOf } from '../../storage/trash.ts'
import { assertReach, nameKey, pathOf } from './paths.ts'
import { insertFolder } from './tree.ts'

/** What an account came by from another one. */
export interface Handover {
  /** The folder that holds the files; null when there were none. */
  folder: string | null
  /** Files and folders in it, and their bytes. */
  nodes: number
  bytes: number
  /** Files in chat rooms that count for the new owner now, and their bytes. */
  room_files: number
  room_bytes: number
  /** Bytes the new owner uses now. */
  used_bytes: number
}

/** The account that files come from. */
interface Giver {
  id: number
  username: string
}

/** The first name for the files of somebody that is free in a folder. */
async function freeName(on: Reader, folder: number, whose: string): Promise<string> {
  const wanted = `Files of ${whose}`
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted} (${number})`
    if (!(await childOf(on, folder, nameKey(name)))) return name
  }
}

/**
 * Gives the files of an account that is about to be removed to another one: the own tree with its versions as a folder in
 * the root, what lies in chat rooms where it is. What is in the trash goes for good, because its owner deleted it. Quotas
 * are no obstacle. Throws `conflict` when a path would become too long to be named.
 */
export async function handOverFiles(tx: Writer, from: Giver, to: number, now: number): Promise<Handover> {
  await dropAllTrashOf(tx, from.id)
  const rooms = await giveRoomFiles(tx, from.id, to)
  const { folder, nodes, bytes } = await handOverTree(tx, from, to, now)
  const { used_bytes } = await advance(tx, to, 0, rooms.bytes)
  return { folder, nodes, bytes, room_files: rooms.files, room_bytes: rooms.bytes, used_bytes }
}

/** Name of the folder that the own files of an account become in another one; null when there are none. Throws as above. */
export async function handOverFolder(on: Reader, from: Giver, to: number): Promise<string | null> {
  const source = await rootOf(on, from.id)
  if (!(await hasChildren(on, source))) return null
  const name = await freeName(on, await rootOf(on, to), from.username)
  assertNameable(name, await extentOf(on, source))
  return name
}

async function handOverTree(tx: Writer, from: Giver, to: number, now: number) {
  const name = await handOverFolder(tx, from, to)
  if (name === null) return { folder: null, nodes: 0, bytes: 0 }
  const root = await rootOf(tx, to)
  const folder = await insertFolder(tx, { user: to, room: null, root }, root, name, now)
  const given = await giveTree(tx, from.id, to, folder)
  const { seq } = await advance(tx, to, given.nodes + 1, given.bytes)
  await recordSubtree(tx, to, folder, seq, given.nodes + 1, now)
  return { folder: pathOf([name]), ...given }
}

function assertNameable(name: string, extent: { depth: number; bytes: number }): void {
  try {
    assertReach([name], extent)
  } catch (error) {
    if (!isFault(error)) throw error
    const text = `In a folder "${name}" some paths would become too long or too deep: move those files further up first.`
    throw fault('conflict', { text })
  }
}
