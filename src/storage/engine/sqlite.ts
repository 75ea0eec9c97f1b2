import { sql } from 'kysely'
import { DiskFull, fromSystemError, InUse } from '../../base/errors.ts'
import { assertDurable, openCopyFile, type SqliteHandle } from '../../host/sqlite-engine.ts'
import type { CopyOptions, Damage, Database, Reader, SchemaDialect } from './database.ts'
import { countTransactions, noActivity } from './activity.ts'
import { makeGroups, type Transaction } from './group-commit.ts'
import { makeNotifications } from './notifications.ts'
import { Connection, execLocked, isBusy, LOCK_ATTEMPT_MS, openHandle } from './sqlite-connection.ts'
import { guardFiles, type FileGuard } from './sqlite-guard.ts'
import { makeCheckpoints, type Checkpoints } from './sqlite-checkpoints.ts'
import { flushInBackground, flushInCommit, type Durability, type FlushFile } from './sqlite-durability.ts'
import { fileId, stateOf, watchOver } from './sqlite-state.ts'

// SQLite. See also `sqlite-copy.ts` (copies), `sqlite-state.ts` (detection of changes) and `sqlite-guard.ts` (missing
// files).

const IDLE_READERS = 4
/** Pages copied at a time, about 16 MiB. */
const COPY_STEP = 4_096

export const sqliteDialect: SchemaDialect = {
  id: sql`integer primary key autoincrement`,
  integer: sql`integer`,
  real: sql`real`,
  text: sql`text`,
  bytes: sql`blob`,
  strict: sql`strict`,
  clustered: sql`strict, without rowid`,
  trigger: ({ name, when }, body) => [sql`create trigger ${sql.raw(name)} ${sql.raw(when)} begin ${body}; end`],
}

/** Copies pages from the read transaction of `reading`, and closes it: writes do not restart it. */
async function copy(reading: Connection, file: string, { without, progress }: CopyOptions): Promise<void> {
  try {
    const pageSize = reading.handle.pragma('page_size', { simple: true }) as number
    await reading.handle.backup(file, {
      progress({ totalPages, remainingPages }) {
        progress?.((totalPages - remainingPages) * pageSize, totalPages * pageSize)
        return COPY_STEP
      },
    })
  } finally {
    reading.close()
  }
  const made = openCopyFile(file)
  try {
    // A single file, without remains of the excluded tables in free pages.
    made.pragma('journal_mode = DELETE')
    made.pragma('secure_delete = ON')
    for (const table of without) made.exec(`delete from ${table}`)
  } finally {
    made.close()
  }
}

const transactionOf = (
  writer: Connection,
  {
    guard,
    durability,
    checkpoints,
  }: { guard: FileGuard; durability: Durability; checkpoints: Checkpoints | undefined },
): Transaction => ({
  writer,
  async begin() {
    await durability.settled()
    await checkpoints?.between()
    await execLocked(writer, 'begin immediate')
    guard.assertInPlace()
  },
  isOpen: () => writer.handle.inTransaction,
  // Throws after the commit if the files went missing: what it wrote may be lost.
  commit: async () => {
    await durability.commit(() => writer.exec('commit'))
    guard.assertInPlace()
  },
  rollback: () => Promise.resolve(writer.exec('rollback')),
  fromEngineError: (error) => (error instanceof DiskFull ? error : fromSystemError(error, writer.handle.name)),
})

/** Most problems of one kind that are reported. */
const COMPLAINTS = 100

function damageOf(handle: SqliteHandle, quick: boolean): Damage[] {
  const pages = handle.pragma(`${quick ? 'quick_check' : 'integrity_check'}(${COMPLAINTS})`) as Record<string, string>[]
  const texts = pages.flatMap((row) => Object.values(row)).filter((text) => text !== 'ok')
  if (texts.length > 0) return texts.map((text) => ({ text }))
  const references = handle.prepare('select "table", rowid, parent from pragma_foreign_key_check limit ?')
  const rows = references.all(COMPLAINTS) as { table: string; rowid: number | null; parent: string }[]
  return rows.map(({ table: from, rowid, parent: to }) => ({
    text: `A row of ${from}${rowid === null ? '' : ` (${rowid})`} refers to one of ${to} that is not there.`,
    reference: { from, to },
  }))
}

async function shrink(connection: Connection): Promise<{ before: number; after: number }> {
  const pragma = (name: string) => Number(connection.handle.pragma(name, { simple: true }))
  const size = () => pragma('page_count') * pragma('page_size')
  // VACUUM builds the new file in temporary storage of the same size: not in memory.
  connection.handle.pragma('temp_store = FILE')
  const before = size()
  await execLocked(connection, 'vacuum')
  connection.handle.pragma('wal_checkpoint(TRUNCATE)')
  return { before, after: size() }
}

/** Runs `unit` while no other connection has the file open, in any process. Throws `InUse` if one has. */
export async function aloneOnSqlite<T>(file: string, unit: (at: Reader) => Promise<T>): Promise<T> {
  const connection = new Connection(openHandle(file))
  const { handle } = connection
  try {
    // Leaving WAL mode requires being the only connection.
    handle.pragma('journal_mode = DELETE')
    connection.exec('begin exclusive')
    return await unit(connection)
  } catch (error) {
    throw isBusy(error) ? new InUse(error) : fromSystemError(error, file)
  } finally {
    if (handle.inTransaction) connection.exec('commit')
    connection.close()
  }
}

/** `Database.state` of a file that is not open. */
export const sqliteState = stateOf

/** Opens another connection to the guarded files; never creates them. */
function connectAgain(file: string, guard: FileGuard): SqliteHandle {
  guard.assertInPlace()
  const handle = openHandle(file, { fileMustExist: true })
  try {
    guard.assertInPlace()
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Maintenance operations for administrators. */
const maintenanceOf = (
  connect: () => SqliteHandle,
  writer: Connection,
): Pick<Database, 'damage' | 'refreshStatistics' | 'vacuum' | 'describe' | 'clock'> => ({
  clock: () => Promise.resolve(undefined),
  async damage(quick) {
    const connection = new Connection(connect())
    try {
      return damageOf(connection.handle, quick)
    } finally {
      connection.close()
    }
  },
  refreshStatistics: () => Promise.resolve(),
  async vacuum() {
    const connection = new Connection(connect())
    try {
      return await shrink(connection)
    } catch (error) {
      throw fromSystemError(error)
    } finally {
      connection.close()
    }
  },
  describe: () =>
    Promise.resolve({
      engine: 'SQLite',
      version: String(writer.handle.prepare('select sqlite_version()').pluck().get()),
      journal_mode: String(writer.handle.pragma('journal_mode', { simple: true })),
      synchronous: String(writer.handle.pragma('synchronous', { simple: true })),
      foreign_keys: String(writer.handle.pragma('foreign_keys', { simple: true })),
    }),
})

export interface SqliteOptions {
  /**
   * Where commits are flushed. `commit`: within the commit, on the event loop, before it is visible; for commands.
   * `background`: on another thread, which also makes checkpoints; for the one server of a database.
   */
  flush?: 'commit' | 'background'
  /** Replaces fdatasync(2) of the log in tests. */
  flushFile?: FlushFile
}

/** Opens or creates a database file. Throws if its settings would not keep an acknowledged write. */
export function openSqlite(file: string, { flush = 'commit', flushFile }: SqliteOptions = {}): Database {
  const inBackground = flush === 'background'
  const found = fileId(file)
  const writer = new Connection(openHandle(file))
  // The opened file, if it surely was not replaced in between.
  const opened = fileId(file) === found ? found : undefined
  assertDurable(writer.handle)
  // The first query creates the log.
  writer.handle.prepare('select count(*) from sqlite_master').get()
  const guard = guardFiles(file)
  const connect = () => connectAgain(file, guard)
  const afterRead = () => durability.afterRead()
  const beforeRead = () => {
    guard.assertRecentlyInPlace()
    durability.beforeRead()
  }
  const reader = new Connection(connect(), { before: beforeRead, after: afterRead })
  const durability = inBackground ? flushInBackground(file, { reader, writer }, flushFile) : flushInCommit(file, writer)
  const checkpoints = inBackground ? makeCheckpoints(file, writer, guard) : undefined
  if (inBackground) {
    writer.handle.pragma('synchronous = NORMAL')
    writer.handle.pragma('wal_autocheckpoint = 0')
  }
  const spare: Connection[] = []
  /** A connection that reads the current state. */
  async function pinned(): Promise<Connection> {
    guard.assertInPlace()
    await durability.settled()
    const connection = spare.pop() ?? new Connection(connect())
    connection.pin()
    afterRead()
    return connection
  }
  const notifications = makeNotifications()
  const activity = noActivity()
  const { write, idle, units } = makeGroups(
    countTransactions(transactionOf(writer, { guard, durability, checkpoints }), activity),
    notifications.publish,
  )

  return {
    read: reader,
    write,
    // Other processes cannot notify; listeners poll their rows.
    listen: notifications.listen,
    dialect: sqliteDialect,
    async snapshot(unit) {
      const connection = await pinned()
      try {
        return await unit(connection)
      } finally {
        connection.unpin()
        if (spare.length < IDLE_READERS) spare.push(connection)
        else connection.close()
      }
    },
    copyTo: (target, options) =>
      // The connection names the database, and the copy may be on another disk.
      pinned()
        .then((reading) => copy(reading, target, options))
        .catch((error: unknown) => Promise.reject(fromSystemError(error, target) as Error)),
    async state() {
      guard.assertInPlace()
      return stateOf(file)
    },
    watch: () => watchOver({ file, opened, writer: writer.handle, write, units, patience: LOCK_ATTEMPT_MS }),
    ...maintenanceOf(connect, writer),
    async check() {
      guard.assertInPlace()
      await sql`select 1 from instance limit 1`.execute(reader.q)
    },
    activity: () => activity,
    onMoved: (listener) => guard.onChange(listener),
    onFailure(listener) {
      durability.onFailure(listener)
      checkpoints?.onFailure(listener)
    },
    async close() {
      await idle()
      await checkpoints?.close()
      durability.close()
      for (const connection of [...spare, reader, writer]) connection.close()
    },
  }
}
