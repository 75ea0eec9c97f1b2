import type { ChalkInstance } from 'chalk'
import { printable } from '../base/text.ts'
import { usage } from './exit.ts'
import { interrupted, interruptible } from './interruption.ts'
import { loadPaint } from './paint.ts'

export interface Column<Row> {
  title: string
  value: (row: Row) => string | number
  align?: 'left' | 'right'
}

/** Text for people, or one document with `--json`. Data goes to stdout, the rest to stderr. */
export interface Io {
  readonly json: boolean
  /** Whether both stdin and stderr are terminals. */
  readonly interactive: boolean
  readonly paint: ChalkInstance
  /** Prints the result: `text`, or `data` as the one JSON document. */
  print(text: string, data: unknown): void
  /** Like `print`, for what cannot be shown again: `--quiet` does not hide it. */
  printAlways(text: string, data: unknown): void
  /** Prints a table, or the rows as JSON (`data`, if the document differs). */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string, data?: unknown): void
  /** Prints one object of a stream, a line each with `--json`; an empty `text` prints nothing. */
  event(text: string, data: unknown): void
  /** Like `event`, for what cannot be shown again. */
  eventAlways(text: string, data: unknown): void
  /** Writes bytes or text that are themselves the result, such as a file's content; `--quiet` does not hide them. */
  raw(chunk: string | Uint8Array): Promise<void>
  /** Prints a note to stderr; a log contains `fields` instead. */
  info(text: string, fields?: object): void
  warn(text: string): void
  /** Prints why a command failed; JSON contains `fields`, and `stack` is for debugging. */
  error(text: string, fields: object, stack?: string): void
  /** From here on, notes and errors are JSON lines like those of the server's log. */
  logAsJson(): void
  /** Asks yes or no. Without a terminal: exit 2, naming `--yes`. */
  confirm(question: string): Promise<boolean>
  /** Asks for a line. Without a terminal: exit 2, naming `flag`. */
  ask(question: string, flag: string): Promise<string>
  /** Asks for a secret without echo. Without a terminal: exit 2, naming `flag`. */
  askSecret(question: string, flag: string): Promise<string>
  /** All of standard input as text, without a final line break. */
  stdin(): Promise<string>
  /** Standard input as bytes. */
  input(): AsyncIterable<Uint8Array>
}

/** The levels of pino. */
const LEVELS = { info: 30, warn: 40, fatal: 60 }

export interface IoOptions {
  json?: boolean
  color?: boolean
  /** Print nothing but errors. */
  quiet?: boolean
}

function paintFor(color: boolean | undefined, stream: NodeJS.WriteStream): Promise<ChalkInstance> {
  return loadPaint(color !== false && !process.env['NO_COLOR'] && stream.isTTY && process.env['TERM'] !== 'dumb')
}

async function loadInquirer(signal: AbortSignal) {
  const { default: inquirer } = await import('inquirer')
  // Prompts go to stderr: stdout may be a file or a pipe.
  return { prompt: inquirer.createPromptModule({ output: process.stderr, signal }) }
}

/** Runs a prompt. End of input (Ctrl-D, a closed terminal), Ctrl-C and signals are interruptions, not failures. */
async function untilInputEnds<T>(prompt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ended = new AbortController()
  // inquirer waits forever when its input ends. It pauses the input after Ctrl-D, as it does after an answer.
  const check = (): void => void setImmediate(() => ended.abort())
  const signs = ['pause', 'end'] as const
  for (const sign of signs) process.stdin.on(sign, check)
  try {
    return await interruptible('Interrupted.', (signal) => prompt(AbortSignal.any([signal, ended.signal])))
  } catch (error) {
    if (error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name)) throw interrupted()
    throw error
  } finally {
    for (const sign of signs) process.stdin.off(sign, check)
  }
}

async function toTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  paint: ChalkInstance,
): Promise<string> {
  const { tableText } = await import('./table.ts')
  return tableText(
    columns.map(({ title, align = 'left' }) => ({ title: paint.bold(title), align })),
    rows.map((row) => columns.map(({ value }) => printable(String(value(row))))),
  )
}

export interface RunningIo extends Io {
  /** Waits until all output is formatted and written. */
  flush(): Promise<void>
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

/** Prompts on a terminal; each waits until earlier output is `written`. */
function makePrompts(
  isInteractive: () => boolean,
  written: () => Promise<void>,
): Pick<Io, 'confirm' | 'ask' | 'askSecret'> {
  /** Runs an inquirer prompt. Without a terminal: exit 2, naming `flag`. */
  async function prompt<T>(flag: string, kind: object, question: string): Promise<T> {
    if (!isInteractive()) throw usage(`There is no terminal to ask on: give ${flag}.`)
    await written()
    const { answer } = await untilInputEnds(async (signal) =>
      (await loadInquirer(signal)).prompt<{ answer: T }>([{ ...kind, name: 'answer', message: question }] as never),
    )
    return answer as T
  }
  return {
    confirm: (question) => prompt<boolean>('--yes', { type: 'confirm', default: false }, question),
    ask: (question, flag) => prompt<string>(flag, { type: 'input' }, question),
    askSecret: (question, flag) => prompt<string>(flag, { type: 'password', mask: '*' }, question),
  }
}

/** Input and output of one command. Output is written in order; `--json` prints data instead of text. */
export async function makeIo({ json = false, color, quiet = false }: IoOptions): Promise<RunningIo> {
  const { stdout, stderr } = process
  const paint = await paintFor(color, stdout)
  const paintError = await paintFor(color, stderr)
  // Node opens standard input when it is asked for.
  const isInteractive = (): boolean => !!stderr.isTTY && !!process.stdin.isTTY
  // Tables need a library that loads on demand; later output queues behind them.
  let pending: Promise<void> = Promise.resolve()
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    pending = pending.then(() => void stream.write(text))
  }
  const resultOf = (text: string, data: unknown) => (json ? JSON.stringify(data, null, 2) : text)
  const eventOf = (text: string, data: unknown) => (json ? JSON.stringify(data) : text)
  let isLog = false
  function log(level: number, painted: string, msg: string, fields?: object): void {
    const line = isLog ? JSON.stringify({ level, time: Date.now(), msg, ...fields }) : painted
    write(stderr, `${line}\n`)
  }
  const print = (text: string, ended?: (error?: Error | null) => void): void => {
    pending = pending.then(() => void stdout.write(`${text}\n`, ended))
  }
  // What cannot be shown again goes to stderr if stdout cannot be written.
  const printSecret = (text: string): void => print(text, (error) => error && log(LEVELS.warn, text, text))

  return {
    json,
    get interactive() {
      return isInteractive()
    },
    paint,
    printAlways: (text, data) => printSecret(resultOf(text, data)),
    print: (text, data) => (quiet ? undefined : print(resultOf(text, data))),
    table(rows, columns, empty, data) {
      if (quiet) return
      if (json) return print(resultOf('', data ?? rows))
      if (rows.length === 0) return write(stderr, `${empty}\n`)
      pending = pending.then(async () => void stdout.write(`${await toTable(rows, columns, paint)}\n`))
    },
    eventAlways: (text, data) => (json || text ? printSecret(eventOf(text, data)) : undefined),
    event: (text, data) => (!quiet && (json || text) ? print(eventOf(text, data)) : undefined),
    raw: async (chunk) => {
      await pending
      // The stream's error handler decides what a failed write means.
      await new Promise<void>((resolve) => void stdout.write(chunk, () => resolve()))
    },
    info: (text, fields) => (quiet ? undefined : log(LEVELS.info, text, text, fields)),
    warn: (text) => (quiet ? undefined : log(LEVELS.warn, `${paintError.yellow('warning:')} ${text}`, text)),
    error(text, fields, stack) {
      const forPeople = `svc: ${text.split('\n').map(printable).join('\n')}`
      log(LEVELS.fatal, json ? JSON.stringify({ error: text, ...fields }) : forPeople, text, fields)
      if (stack !== undefined) write(stderr, `${stack}\n`)
    },
    logAsJson: () => void (isLog = true),
    ...makePrompts(isInteractive, () => pending),
    input: () => process.stdin as AsyncIterable<Uint8Array>,
    stdin: readStdin,
    flush: () => pending,
  }
}
