import { makeKeyedMutex } from '../../base/keyed-mutex.ts'
import { JsonList } from '../json-list.ts'
import { yieldToOthers } from '../turn.ts'
import { fault } from '../../contract/errors.ts'
import { DELTA_LIMIT } from '../../contract/limits.ts'
import { feedTables, SCHEMA_VERSION } from '../../contract/tables.ts'
import { largeRoomsOf } from '../../storage/chat/pending-changes.ts'
import { headOf } from '../../storage/feed/changes.ts'
import type { Database, Reader } from '../../storage/engine/database.ts'
import {
  filesSource,
  messagesSource,
  nextPage,
  roomsSource,
  tableSource,
  type FeedRow,
  type FeedSource,
} from '../../storage/feed/feed.ts'
import type { FeedWaiters } from './feed-waiters.ts'
import { shapes, toWire } from './table-shapes.ts'

export interface Since {
  cursor: number
  limit?: number
  /** Seconds to wait if there are no changes. */
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
  // A row that is no longer visible (a room was left) ends for this account even if it exists for others.
  if (deleted === 1 || data['id'] === null) return { table, operation: 'DELETE', data: { id }, cursor }
  convert(data)
  return { table, operation: born > after ? 'INSERT' : 'UPDATE', data: data as Row, cursor }
}

/** Changes per query, and the approximate bytes of their rows. */
const PART = 200
const PART_BYTES = 1_048_576
/** Approximate bytes of rows per page. */
const PAGE_BYTES = 16 * PART_BYTES
/** This many changes are read whatever their size. */
const FEW = 4

interface Part {
  tables: readonly string[]
  upTo: number
  bytes: number
}

/** The next part of the feed, small enough not to block the event loop. */
async function partAfter(at: Reader, user: number, after: number, limit: number): Promise<Part> {
  const found = await nextPage(at, user, after, Math.min(limit, PART))
  const tables = found.map(({ tbl }) => tbl)
  const upTo = Math.max(after, ...found.map((part) => part.upTo))
  if (found.reduce((sum, part) => sum + Number(part.count), 0) <= FEW) return { tables, upTo, bytes: 0 }
  const sizes: { seq: number; bytes: number }[] = []
  for (const table of tables) sizes.push(...((await sources[table]!.sizes?.(at, { user, after, upTo })) ?? []))
  if (tables.length > 1) sizes.sort((a, b) => a.seq - b.seq)
  let bytes = 0
  for (const { seq, bytes: more } of sizes) {
    bytes += more
    if (bytes > PART_BYTES) return { tables, upTo: seq, bytes }
  }
  return { tables, upTo, bytes }
}

/** The next changes after a cursor in feed order, over all tables, read in slices. */
async function pageAfter(at: Reader, user: number, after: number, limit: number, head: number): Promise<Page> {
  const changes: Change[] = []
  let [cursor, room] = [after, PAGE_BYTES]
  while (changes.length < limit && room > 0) {
    const { tables, upTo, bytes } = await partAfter(at, user, cursor, limit - changes.length)
    if (upTo === cursor) {
      // Some positions have no change, also the last one: feeds that take a change over later skip its position.
      cursor = head
      break
    }
    const part: Change[] = []
    for (const table of tables) {
      const convert = toWire(table)
      const rows = await sources[table]!.changed(at, { user, after: cursor, upTo })
      for (const row of rows) part.push(toChange(table, row, convert, after))
    }
    if (tables.length > 1) part.sort((a, b) => a.cursor - b.cursor)
    for (const change of part) changes.push(change)
    cursor = upTo
    room -= bytes
    if (cursor === head) break
    // The snapshot keeps the rows; let other tasks run.
    if (changes.length < limit) await yieldToOthers()
  }
  return { changes, cursor, has_more: head > cursor, count: changes.length }
}

/** Every row of a table that the account sees. */
async function listOf(at: Reader, user: number, table: string): Promise<JsonList<Row>> {
  const convert = toWire(table)
  const list = new JsonList<Row>()
  for (let after = 0; ;) {
    const { rows, upTo }: Awaited<ReturnType<FeedSource['part']>> = await sources[table]!.part(at, user, after)
    rows.forEach(convert)
    list.add(rows as Row[])
    if (upTo === undefined) return list
    after = upTo
    // The snapshot keeps the rows; let other tasks run.
    await yieldToOthers()
  }
}

export const makeFeed = (
  deps: { database: Database; news: FeedWaiters; takeOver: (user: number) => Promise<boolean>; epoch: () => string },
  exclusively = makeKeyedMutex<number>(),
  longPages = makeKeyedMutex<number>(),
) => {
  /** Takes over what happened in the large rooms of an account. Returns these, and whether something is still pending. */
  async function catchUp(user: number): Promise<{ rooms: number[]; isBehind: boolean }> {
    const found = await largeRoomsOf(deps.database.read, user)
    const isBehind = found.some((room) => room.isBehind) && !(await deps.takeOver(user))
    return { rooms: found.map(({ room_id }) => room_id), isBehind }
  }

  return {
    /**
     * Changes after a cursor, oldest first. Faults: `epoch_mismatch` for a cursor of another server or from before a
     * restore, `cursor_expired` if tombstones after it were deleted.
     */
    async changesSince(
      user: number,
      { cursor, limit = DELTA_LIMIT.default, wait = 0, epoch }: Since,
      signal: () => AbortSignal,
    ): Promise<Page> {
      const { database, news } = deps
      const max = Math.min(limit, DELTA_LIMIT.max)
      if (epoch !== undefined && epoch !== deps.epoch()) throw fault('epoch_mismatch')
      const { rooms, isBehind } = await catchUp(user)
      if (wait > 0 && cursor === (await headOf(database.read, user))?.seq) {
        await news.wait({ user, rooms, cursor, isBehind }, wait * 1_000, signal())
        if (rooms.length > 0) await catchUp(user)
      }
      // All queries need one snapshot: otherwise rows move in the feed, and tombstones disappear, between them.
      const read = () =>
        database.snapshot(async (at) => {
          const head = (await headOf(at, user))!
          if (cursor > head.seq) throw fault('epoch_mismatch')
          if (cursor < head.oldest) throw fault('cursor_expired')
          return pageAfter(at, user, cursor, max, head.seq)
        })
      // A page of several parts holds a connection while other tasks run.
      const isLong = max > PART && (await headOf(database.read, user))!.seq - cursor > PART
      return isLong ? longPages(user, read) : read()
    },

    /** All rows of the account in these tables and the matching cursor, from one snapshot. */
    everything: (user: number, wanted: readonly string[] = feedTables) =>
      exclusively(user, async () => {
        await catchUp(user)
        return deps.database.snapshot(async (at) => {
          const { seq } = (await headOf(at, user))!
          const data: Record<string, JsonList<Row>> = {}
          for (const table of wanted) data[table] = await listOf(at, user, table)
          return { data, cursor: seq, schema_version: SCHEMA_VERSION }
        })
      }),

    async head(user: number): Promise<number> {
      await catchUp(user)
      return (await headOf(deps.database.read, user))!.seq
    },
  }
}
