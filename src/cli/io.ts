import { Chalk, type ChalkInstance } from 'chalk'
import { printable } from '../base/text.ts'
import { Exit, usage } from './exit.ts'

export interface Column<Row> {
  title: string
  value: (row: Row) => string | number
  align?: 'left' | 'right'
}

/** A command's two faces: words for people, and with `--json` one document for machines. Data on stdout, the rest on stderr. */
export interface Io {
  readonly json: boolean
  /** Whether somebody sits in front of it: both stdin and stderr are a terminal. */
  readonly interactive: boolean
  readonly paint: ChalkInstance
  /** The result of a command: `words` for people, `data` as the one JSON document. */
  say(words: string, data: unknown): void
  /** A list: a table for people, the rows as they are for machines (`data` where the document should be another). */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string, data?: unknown): void
  /** One object of a stream, a line each with `--json`; `words` are left out when empty. */
  event(words: string, data: unknown): void
  /** Bytes or text that are themselves the result, for example a file's content. */
  raw(chunk: string | Uint8Array): Promise<void>
  /** A remark for people on stderr. */
  note(text: string): void
  warn(text: string): void
  /** Asks for yes or no. Without a terminal it does not ask: exit 2, naming `--yes`. */
  confirm(question: string): Promise<boolean>
  /** Asks for a line. Without a terminal: exit 2, naming `flag`. */
  ask(question: string, flag: string): Promise<string>
  /** Asks for a secret without showing it. Without a terminal: exit 2, naming `flag`. */
  askSecret(question: string, flag: string): Promise<string>
  /** All of standard input as text, without a final line break. */
  stdin(): Promise<string>
  /** Standard input byte for byte, as it comes. */
  input(): AsyncIterable<Uint8Array>
}

export interface IoOptions {
  json?: boolean
  color?: boolean
}

function palette(color: boolean | undefined, stream: NodeJS.WriteStream): ChalkInstance {
  const plain = color === false || !!process.env['NO_COLOR'] || !stream.isTTY || process.env['TERM'] === 'dumb'
  return new Chalk({ level: plain ? 0 : 2 })
}

async function prompts() {
  const { default: inquirer } = await import('inquirer')
  // stdout is for data: it may be a file or a pipe while somebody is asked.
  return { prompt: inquirer.createPromptModule({ output: process.stderr }) }
}

/** Runs a prompt; a closed terminal or Ctrl-C is an interruption, not a failure. */
async function answered<T>(prompt: () => Promise<T>): Promise<T> {
  try {
    return await prompt()
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError') throw new Exit(130, 'Interrupted.', 'interrupted')
    throw error
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
  /** Waits for everything said to have been formatted and handed over. */
  flush(): Promise<void>
}

export function makeIo({ json = false, color }: IoOptions): RunningIo {
  const { stdin, stdout, stderr } = process
  const paint = palette(color, stdout)
  const paintError = palette(color, stderr)
  const interactive = !!stdin.isTTY && !!stderr.isTTY
  // Tables are laid out by a library that loads on demand; later output queues behind them.
  let pending: Promise<void> = Promise.resolve()
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    pending = pending.then(() => void stream.write(text))
  }
  const document = (data: unknown) => write(stdout, `${JSON.stringify(data, null, 2)}\n`)
  const mustAsk = (flag: string): void => {
    if (!interactive) throw usage(`There is no terminal to ask on: give ${flag}.`)
  }

  return {
    json,
    interactive,
    paint,
    say: (words, data) => (json ? document(data) : write(stdout, `${words}\n`)),
    table(rows, columns, empty, data) {
      if (json) return document(data ?? rows)
      if (rows.length === 0) return write(stderr, `${empty}\n`)
      pending = pending.then(async () => void stdout.write(`${await toTable(rows, columns, paint)}\n`))
    },
    event(words, data) {
      if (json) write(stdout, `${JSON.stringify(data)}\n`)
      else if (words) write(stdout, `${words}\n`)
    },
    raw: async (chunk) => {
      await pending
      await new Promise<void>((resolve, reject) => {
        stdout.write(chunk, (error) => (error ? reject(error) : resolve()))
      })
    },
    note: (text) => write(stderr, `${text}\n`),
    warn: (text) => write(stderr, `${paintError.yellow('warning:')} ${text}\n`),
    async confirm(question) {
      mustAsk('--yes')
      await pending
      const inquirer = await prompts()
      const { yes } = await answered(() =>
        inquirer.prompt([{ type: 'confirm', name: 'yes', message: question, default: false }]),
      )
      return yes as boolean
    },
    async ask(question, flag) {
      mustAsk(flag)
      await pending
      const inquirer = await prompts()
      const { line } = await answered(() => inquirer.prompt([{ type: 'input', name: 'line', message: question }]))
      return line as string
    },
    async askSecret(question, flag) {
      mustAsk(flag)
      await pending
      const inquirer = await prompts()
      const { secret } = await answered(() =>
        inquirer.prompt([{ type: 'password', name: 'secret', message: question, mask: '*' }]),
      )
      return secret as string
    },
    input: () => stdin as AsyncIterable<Uint8Array>,
    async stdin() {
      const chunks: Buffer[] = []
      for await (const chunk of stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
        .toString('utf8')
        .replace(/\r?\n$/, '')
    },
    flush: () => pending,
  }
}
