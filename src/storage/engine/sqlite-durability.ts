import { closeSync, fdatasync, fdatasyncSync, openSync, realpathSync } from 'node:fs'
import { promisify } from 'node:util'
import { FlushFailed } from '../../base/errors.ts'
import type { Connection } from './sqlite-connection.ts'

// When a commit of SQLite is on the disk. A commit of a command flushes the write-ahead log before anybody sees it, and the event
// loop waits for the disk. A server cannot wait: it commits into the page cache (`synchronous = NORMAL`) and flushes the log on
// another thread. In between, its own readers stay at the state before the commit, and no other transaction is committed. Reasons
// and proof: src/docs/durability.md.

/** Flushes the data of an open file; rejects with an error of the system. */
export type FlushFile = (fd: number) => Promise<void>

export interface Durability {
  /** Of connections that commit. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Runs `exec`, which commits, and resolves when it is on the disk. Throws `FlushFailed`, and then all later calls do. */
  commit(exec: () => void): Promise<void>
  /** Resolves when everything that a new connection would see is on the disk. */
  settled(): Promise<void>
  /** To be called after rows were read, before they are used. */
  afterRead(): void
  onFailure(listener: (failure: FlushFailed) => void): void
  close(): void
}

const openLog = (file: string): number => openSync(`${realpathSync(file)}-wal`, 'r+')

/** Commits are durable before they are visible. What a server committed may not be yet: it is flushed before it is used. */
export function flushInCommit(file: string, writer: Connection): Durability {
  let fd: number | undefined
  let known: unknown
  return {
    synchronous: 'FULL',
    commit: (exec) => Promise.resolve(exec()),
    settled: () => Promise.resolve(),
    afterRead() {
      // Changes with commits of other connections only.
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

/** Commits are visible to `reader` when they have been flushed on another thread. */
export function flushInBackground(
  file: string,
  reader: Connection,
  flushFile: FlushFile = promisify(fdatasync),
): Durability {
  let fd: number | undefined = openLog(file)
  const listeners: ((failure: FlushFailed) => void)[] = []
  let failure: FlushFailed | undefined
  let flushing: Promise<void> | undefined

  async function flush(): Promise<void> {
    try {
      await flushFile(fd!)
    } catch (cause) {
      // The kernel may have dropped the pages: a second flush that succeeds would prove nothing.
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
      reader.pin()
      try {
        exec()
      } catch (error) {
        reader.unpin()
        throw error
      }
      // After a failure it stays where it is: nobody sees what may be lost.
      await (flushing = flush())
      reader.unpin()
    },
    async settled() {
      while (flushing) await flushing
      if (failure) throw failure
    },
    afterRead: () => undefined,
    onFailure: (listener) => void listeners.push(listener),
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}
