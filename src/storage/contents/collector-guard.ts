import { formatCount } from '../../base/counts.ts'
import { formatSize } from '../../base/sizes.ts'
import type { CollectorMemory } from './collector-memory.ts'
import type { Reader } from '../engine/database.ts'
import { hasLostFiles } from './lost-files.ts'

// Whether the collector may remove what it found without confirmation. Contents are the only data that cannot be
// rebuilt from rows.

/** The collector would remove an unusual amount; the message says what, and how to confirm it. */
export class CollectorRefused extends Error {
  override name = 'CollectorRefused'
  readonly exitCode = 8
  readonly reason = 'collection_refused'
}

export interface Amount {
  contents: number
  bytes: number
}

/** What the collector would remove, and the totals. */
export interface PlannedCollection {
  /** Contents with a row but no reference. */
  unreferenced: Amount
  /** Blobs without a row. */
  strays: Amount
  /** Those of them that did not come from uploads to this database. */
  unexplained: Amount
  all: Amount
}

/** Always allowed in one run, whatever the share. */
const SMALL: Amount = { contents: 1_000, bytes: 10 * 1024 ** 3 }
const SHARE = 1 / 2
/** From this share on, check first whether rows were lost. */
const SUSPICIOUS_SHARE = 1 / 10

const isMore = (part: Amount, share: number, of: Amount): boolean =>
  part.contents > share * of.contents || part.bytes > share * of.bytes

const sum = (one: Amount, other: Amount): Amount => ({
  contents: one.contents + other.contents,
  bytes: one.bytes + other.bytes,
})

async function reasonOf(on: Reader, survey: PlannedCollection, { most }: CollectorMemory): Promise<string | undefined> {
  const { unreferenced, strays, unexplained, all } = survey
  const going = sum(unreferenced, strays)
  if (going.contents === 0) return undefined
  if (!(await on.q.selectFrom('users').select('id').limit(1).executeTakeFirst()))
    return 'there are contents, but not a single account'
  if (unexplained.contents > 0)
    return `${formatCount(unexplained.contents)} of them (${formatSize(unexplained.bytes)}) came while this database was not in use, or had rows before: an older database may have been restored beside newer contents`
  if (isMore(unreferenced, SUSPICIOUS_SHARE, all) && (await hasLostFiles(on)))
    return 'the database has lost rows of files (svc storage check)'
  const isLarge = going.contents > SMALL.contents || going.bytes > SMALL.bytes
  if (isLarge && isMore(going, SHARE, sum(all, strays)) && isMore(going, 1, most))
    return 'that is more than half of everything, and more than was ever removed in one go'
  return undefined
}

/** Why the findings must be confirmed, and what to do; undefined if they need not be. */
export async function refusalOf(
  on: Reader,
  survey: PlannedCollection,
  memory: CollectorMemory,
): Promise<string | undefined> {
  const reason = await reasonOf(on, survey, memory)
  if (reason === undefined) return undefined
  const { contents, bytes } = sum(survey.unreferenced, survey.strays)
  return (
    `Nothing was removed: ${formatCount(contents)} contents (${formatSize(bytes)}) seem to belong to no file, and ${reason}. ` +
    `Bring back the right database first. Only if they are really not needed, run svc storage gc --confirm-count ${contents}.`
  )
}
