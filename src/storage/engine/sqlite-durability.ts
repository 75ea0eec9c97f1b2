import { closeSync, fdatasync, fdatasyncSync, openSync, realpathSync } from 'node:fs'
import { promisify } from 'node:util'
import { FlushFailed } from '../../base/errors.ts'
import type { Connection } from './sqlite-connection.ts'

// When a commit of SQLite is on disk. A command flushes the write-ahead log before the commit becomes visible, and the
// event loop waits. A server cannot wait: it commits to the page cache (`synchronous = NORMAL`) and flushes the log on
// another thread. Meanwhile its own readers stay at the previous state, and no other transaction is committed. Reasons
// and proof: src/docs/durability.md.

/** Flushes the data of an open file; rejects with a system error. */
export type FlushFile = (fd: number) => Promise<void>

export interface Durability {
  /** Setting of connections that commit. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Runs `exec`, which commits, and resolves when it is on disk. Throws `FlushFailed`, as do all later calls. */
  commit(exec: () => void): Promise<void>
  /** Resolves when everything visible to a new connection is on disk. */
  settled(): Promise<void>
  /** Call before rows are read. */
  beforeRead(): void
  /** Call after rows were read, before they are used. */
  afterRead(): void
  onFailure(listener: (failure: FlushFailed) => void): void
  close(): void
}

const openLog = (file: string): number => openSync(`${realpathSync(file)}-wal`, 'r+')

/** A commit of the server may be visible before it is durable, so it is flushed before it is used. */
export function flushInCommit(file: string, writer: Connection): Durability {
  let fd: number | undefined
  let known: unknown
  return {
    synchronous: 'FULL',
    commit: (exec) => Promise.resolve(exec()),
    settled: () => Promise.resolve(),
    beforeRead: () => undefined,
    afterRead() {
      // Changes only with commits of other connections.
      const version = writer.dataVersion()
      if (version === known) return
      fdatasyncSync((fd ??= openLog(file)))
      known = version
    },
    onFailure: () => undefined,
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

/** Commits become visible to `reader` after another thread has flushed them. */
export function flushInBackground(
  file: string,
  { reader, writer }: { reader: Connection; writer: Connection },
  flushFile: FlushFile = promisify(fdatasync),
): Durability {
  let fd: number | undefined = openLog(file)
  const listeners: ((failure: FlushFailed) => void)[] = []
  let failure: FlushFailed | undefined
  let flushing: Promise<void> | undefined
  /** The writer's data version at its commit, while the reader stays at the previous state. */
  let pinnedAt: number | undefined

  function pin(): void {
    reader.pin()
    pinnedAt = writer.dataVersion()
  }
  function unpin(): void {
    if (pinnedAt === undefined) return
    pinnedAt = undefined
    reader.unpin()
  }

  async function flush(): Promise<void> {
    try {
      await flushFile(fd!)
    } catch (cause) {
      // The kernel may have dropped the pages: a second, successful flush would prove nothing.
      failure = new FlushFailed(file, { cause })
      for (const each of listeners) each(failure)
      throw failure
    } finally {
      flushing = undefined
    }
  }

  return {
    synchronous: 'NORMAL',
    async commit(exec) {
      if (failure) throw failure
      pin()
      try {
        exec()
      } catch (error) {
        unpin()
        throw error
      }
      // After a failure the reader stays where it is: nobody sees what may be lost.
      await (flushing = flush())
      unpin()
    },
    async settled() {
      while (flushing) await flushing
      if (failure) throw failure
    },
    beforeRead() {
      // Another process has committed since, and flushed the log with it.
      if (pinnedAt !== undefined && writer.dataVersion() !== pinnedAt) unpin()
    },
    afterRead: () => undefined,
    onFailure: (listener) => void listeners.push(listener),
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}
