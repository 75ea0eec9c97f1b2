import { fault } from '../../contract/errors.ts'
import { DELTA_LIMIT } from '../../contract/limits.ts'
import { feedTables, SCHEMA_VERSION } from '../../contract/tables.ts'
import { headOf } from '../../storage/changes.ts'
import type { Database, Reader } from '../../storage/database.ts'
import {
  filesSource,
  messagesSource,
  nextPage,
  roomsSource,
  tableSource,
  type FeedRow,
  type FeedSource,
} from '../../storage/feed.ts'
import type { News } from '../news.ts'
import { shapes, toWire } from './tables.ts'

export interface Since {
  cursor: number
  limit?: number
  /** Seconds to wait for news when there are none. */
  wait?: number
  epoch?: string
}

interface Row {
  [column: string]: unknown
  id: number
}

interface Change {
  table: string
  operation: 'INSERT' | 'UPDATE' | 'DELETE'
  data: Row
  cursor: number
}

interface Page {
  changes: Change[]
  cursor: number
  has_more: boolean
  count: number
}

const sources: Record<string, FeedSource> = {
  ...Object.fromEntries(shapes.map((shape) => [shape.name, tableSource(shape)])),
  svc_files: filesSource,
  svc_rooms: roomsSource,
  svc_messages: messagesSource,
}

function toChange(table: string, row: FeedRow, convert: (row: Record<string, unknown>) => void, after: number): Change {
  const { feed_seq: cursor, feed_born: born, feed_deleted: deleted, feed_id: id, ...data } = row
  // A row that cannot be seen any more (a room left) ends for this account even if it lives on for others.
  if (deleted === 1 || data['id'] === null) return { table, operation: 'DELETE', data: { id }, cursor }
  convert(data)
  return { table, operation: born > after ? 'INSERT' : 'UPDATE', data: data as Row, cursor }
}

/** The next changes after a cursor, in feed order, whichever tables they belong to. */
async function pageAfter(at: Reader, user: number, after: number, limit: number, head: number): Promise<Page> {
  const tables = await nextPage(at, user, after, limit)
  const upTo = Math.max(after, ...tables.map((part) => part.upTo))
  const changes: Change[] = []
  for (const { tbl } of tables) {
    const convert = toWire(tbl)
    const rows = await sources[tbl]!.changed(at, { user, after, upTo })
    for (const row of rows) changes.push(toChange(tbl, row, convert, after))
  }
  if (tables.length > 1) changes.sort((a, b) => a.cursor - b.cursor)
  return { changes, cursor: upTo, has_more: head > upTo, count: changes.length }
}

/** Reading the change feed. */
export const makeFeed = (deps: { database: Database; news: News; epoch: () => string }) => ({
  /**
   * Changes after a cursor, oldest first. Faults: `epoch_mismatch` for a cursor of another server or from before a
   * restore, `cursor_expired` when tombstones after it are gone.
   */
  async changesSince(
    user: number,
    { cursor, limit = DELTA_LIMIT.default, wait = 0, epoch }: Since,
    signal: () => AbortSignal,
  ): Promise<Page> {
    const { database, news } = deps
    const most = Math.min(limit, DELTA_LIMIT.max)
    if (epoch !== undefined && epoch !== deps.epoch()) throw fault('epoch_mismatch')
    if (wait > 0 && cursor === (await headOf(database.read, user))?.seq) {
      await news.wait(user, cursor, wait * 1_000, signal())
    }
    // One state for all questions: between them rows move on in the feed, and old deletions are forgotten.
    return database.snapshot(async (at) => {
      const head = (await headOf(at, user))!
      if (cursor > head.seq) throw fault('epoch_mismatch')
      if (cursor < head.oldest) throw fault('cursor_expired')
      return pageAfter(at, user, cursor, most, head.seq)
    })
  },

  /** Every row the account sees in these tables and the cursor that goes with them, from one snapshot. */
  everything: (user: number, wanted: readonly string[] = feedTables) =>
    deps.database.snapshot(async (at) => {
      const { seq } = (await headOf(at, user))!
      const data: Record<string, Row[]> = {}
      for (const table of wanted) {
        const rows = await sources[table]!.all(at, user)
        rows.forEach(toWire(table))
        data[table] = rows as Row[]
      }
      return { data, cursor: seq, schema_version: SCHEMA_VERSION }
    }),

  /** Head of the account's feed. */
  async head(user: number): Promise<number> {
    return (await headOf(deps.database.read, user))!.seq
  },
})
