import { engineName, NOT_DURABLE, PRIVATE_FILE, type SqliteHandle, type SqliteStatement } from './sqlite-engine.ts'
import { startThread, type WorkerThread } from './worker-thread.ts'

// A private SQLite file on a thread of its own, so that long statements do not hold the event loop.

export interface SqlStatement {
  sql: string
  values?: readonly (string | number | null)[]
}

export interface SqliteThread {
  /** Runs statements, several in one transaction, and resolves with the rows of the last. */
  run(...statements: readonly SqlStatement[]): Promise<unknown[]>
  /** Closes the file after what was asked before. */
  close(): Promise<void>
}

/** An `Error` loses its code between threads. */
type Answer = { rows: unknown[] } | { code: string; message: string }

interface Opening {
  /** Where the engine is loaded from. */
  from: string
  engine: string
  file: string
  /** SQL that is executed first. */
  setup: string
}

/** The program of the thread. It opens the file with the first message. */
function sqliteThread(): void {
  const { createRequire } = process.getBuiltinModule('node:module')
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads')
  const { from, engine, file, setup } = workerData as Opening
  const prepared = new Map<string, SqliteStatement>()
  let handle: SqliteHandle | undefined

  function open(): SqliteHandle {
    const Engine = createRequire(from)(engine) as new (file: string, options: object) => SqliteHandle
    const opened = new Engine(file, { fileMustExist: true })
    try {
      opened.exec(setup)
      return opened
    } catch (error) {
      opened.close()
      throw error
    }
  }

  function execute(on: SqliteHandle, { sql, values = [] }: SqlStatement): unknown[] {
    const statement = prepared.get(sql) ?? on.prepare(sql)
    prepared.set(sql, statement)
    if (statement.reader) return statement.all(...values)
    statement.run(...values)
    return []
  }

  function answer(statements: readonly SqlStatement[]): Answer {
    try {
      const on = (handle ??= open())
      let rows: unknown[] = []
      if (statements.length > 1) on.exec('begin immediate')
      for (const statement of statements) rows = execute(on, statement)
      if (statements.length > 1) on.exec('commit')
      return { rows }
    } catch (error) {
      if (handle?.inTransaction) handle.exec('rollback')
      const { code, message } = error as Error & { code?: unknown }
      return { code: String(code ?? ''), message }
    }
  }

  parentPort!.on('message', (message: readonly SqlStatement[] | 'close') => {
    if (message !== 'close') return parentPort!.postMessage(answer(message))
    prepared.clear()
    handle?.close()
    handle = undefined
    parentPort!.postMessage({ rows: [] })
  })
}

/** Opens a private file that exists, whose schema may run no code. Commits are not durable. `onEnd` is called if the thread ends. */
export function openSqliteThread(file: string, setup: string, onEnd: () => void): SqliteThread {
  const workerData: Opening = {
    from: import.meta.url,
    engine: engineName,
    file,
    setup: PRIVATE_FILE + NOT_DURABLE + setup,
  }
  const thread: WorkerThread<readonly SqlStatement[] | 'close', Answer> = startThread(sqliteThread, {
    workerData,
    task: `has ${file} open`,
    onEnd,
  })

  return {
    async run(...statements) {
      const answer = await thread.ask(statements)
      if ('rows' in answer) return answer.rows
      throw Object.assign(new Error(answer.message), { code: answer.code })
    },
    async close() {
      // A thread that has ended has nothing open.
      await thread.ask('close').catch(() => undefined)
      await thread.terminate()
    },
  }
}
