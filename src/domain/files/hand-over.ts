import { fault, isFault } from '../../contract/errors.ts'
import type { Reader, Writer } from '../../storage/engine/database.ts'
import { childOf, hasChildren, rootOf, type Extent } from '../../storage/files/nodes.ts'
import { moveRoot } from '../../storage/accounts/removals.ts'
import { extentBelow } from '../../storage/files/tree-slices.ts'
import { assertReach, nameKey } from './paths.ts'

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

/** How far the own files of an account reach, for `handOverFolder`. */
export const handOverExtent = async (on: Reader, from: number): Promise<Extent> =>
  extentBelow(on, await rootOf(on, from))

/**
 * Name of the folder that the own files of an account become in another one; null when there are none. Throws `conflict`
 * when a path would become too long to be named.
 */
export async function handOverFolder(on: Reader, from: Giver, to: number, extent: Extent): Promise<string | null> {
  if (!(await hasChildren(on, await rootOf(on, from.id)))) return null
  const name = await freeName(on, await rootOf(on, to), from.username)
  assertNameable(name, extent)
  return name
}

/**
 * Makes the own tree of an account that is being removed a folder in the root of another one, which owns the folder itself
 * from then on; what it holds follows slice by slice. Quotas are no obstacle. Returns the folder's name, as above.
 */
export async function beginHandOver(
  tx: Writer,
  from: Giver,
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
