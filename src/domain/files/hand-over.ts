import { fault, isFault } from '../../contract/errors.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import { childOf, hasChildren, rootOf, type Extent } from '../../storage/files/nodes.ts'
import { moveRoot } from '../../storage/accounts/removals.ts'
import { extentBelow } from '../../storage/files/tree-slices.ts'
import { assertReach, nameKey } from './paths.ts'

/** What the heir of an account received. */
export interface Handover {
  /** The folder with the files; null if there were none. */
  folder: string | null
  /** Files and folders in it, and their bytes. */
  nodes: number
  bytes: number
  /** Files in chat rooms that now count towards the heir's quota, and their bytes. */
  room_files: number
  room_bytes: number
  /** Bytes the heir uses now. */
  used_bytes: number
}

interface FormerOwner {
  id: number
  username: string
}

async function freeName(on: Reader, folder: number, whose: string): Promise<string> {
  const wanted = `Files of ${whose}`
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted} (${number})`
    if (!(await childOf(on, folder, nameKey(name)))) return name
  }
}

/** The extent of an account's own tree. */
export const handOverExtent = async (on: Reader, from: number): Promise<Extent> =>
  extentBelow(on, await rootOf(on, from))

/** Name of the heir's folder for the files; null if there are none. Fault `conflict` if a path would become too long. */
export async function handOverFolder(
  on: Reader,
  from: FormerOwner,
  to: number,
  extent: Extent,
): Promise<string | null> {
  if (!(await hasChildren(on, await rootOf(on, from.id)))) return null
  const name = await freeName(on, await rootOf(on, to), from.username)
  assertNameable(name, extent)
  return name
}

/**
 * Moves the tree of an account that is being removed into a folder of the heir's root. The heir owns the folder at once;
 * its nodes follow in slices. Ignores quotas. Returns the folder's name, or null.
 */
export async function beginHandOver(
  tx: Writer,
  from: FormerOwner,
  to: number,
  { extent, now }: { extent: Extent; now: number },
): Promise<string | null> {
  const name = await handOverFolder(tx, from, to, extent)
  if (name !== null) await moveRoot(tx, { from: from.id, to }, { name, name_key: nameKey(name) }, now)
  return name
}

function assertNameable(name: string, extent: Extent): void {
  try {
    assertReach([name], extent)
  } catch (error) {
    if (!isFault(error)) throw error
    const text = `In a folder "${name}" some paths would become too long or too deep: move those files further up first.`
    throw fault('conflict', { text })
  }
}
