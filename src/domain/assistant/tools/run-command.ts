import { Type } from 'typebox'
import pLimit, { type LimitFunction } from 'p-limit'
import { fault, isFault } from '../../../contract/errors.ts'
import type { Files } from '../../files/files.ts'
import type { Tool } from './tool.ts'
import { refusedCommand } from './blocklist.ts'
import type { Browsing } from './read-files.ts'
import { FilePath } from './shapes.ts'
import { bounded } from './text.ts'
import { toolOf } from './tool-of.ts'

/** A file for the sandbox: where it stands there, and its bytes. */
export interface SandboxFile {
  /** Without a leading slash, below the home of the sandbox. */
  path: string
  content: AsyncIterable<Uint8Array> | Uint8Array
}

/** How a command ended, with what it wrote, at most 64 KiB. */
export interface Ran {
  output: string
  /** Null when a signal ended it. */
  code: number | null
  timedOut: boolean
  truncated: boolean
}

/** Runs commands where they can see nothing but what they are given, and change nothing. */
export interface Sandbox {
  run(job: { command: string; files: AsyncIterable<SandboxFile>; signal: AbortSignal }): Promise<Ran>
}

/** What one command may be given. */
const SNAPSHOT = { bytes: 64 * 1_048_576, files: 2_000 }

/** Commands at the same moment, in all. */
const AT_ONCE = 2

type Facts = Awaited<ReturnType<Browsing['desktop']['facts']>>
type Reading = Browsing & Pick<Files, 'read'>

/** The files below paths of the caller, in the places they have in the account. */
async function* snapshot(
  { desktop, read }: Reading,
  user: number,
  paths: readonly string[],
): AsyncGenerator<SandboxFile> {
  const left = { ...SNAPSHOT }
  async function* file(path: string, { sha256, size }: Facts): AsyncGenerator<SandboxFile> {
    left.bytes -= size
    left.files -= 1
    if (left.bytes < 0 || left.files < 0)
      throw fault('too_large', { text: `A command is given at most ${SNAPSHOT.files} files of 64 MiB together.` })
    yield { path: path.slice(1), content: await read(sha256) }
  }
  async function* below(folder: string): AsyncGenerator<SandboxFile> {
    for (const { name, type } of await desktop.list(user, folder)) {
      const path = `${folder === '/' ? '' : folder}/${name}`
      if (type === 'directory') yield* below(path)
      else yield* file(path, await desktop.facts(user, path))
    }
  }
  const seen = new Set<string>()
  for (const path of paths) {
    const facts = await desktop.facts(user, path).catch((error: unknown) => {
      if (isFault(error, 'not_found')) return undefined
      throw error
    })
    for await (const each of facts ? file(path, facts) : below(path)) {
      if (!seen.has(each.path)) yield each
      seen.add(each.path)
    }
  }
}

function report({ output, code, timedOut, truncated }: Ran): string {
  const end = timedOut
    ? 'It was stopped after 20 seconds.'
    : code === null
      ? 'It was killed: it used more memory or wrote more than it may.'
      : `It ended with ${code}.`
  return bounded(`${end}${truncated ? ' Its output is cut.' : ''}\n${output || '[no output]'}`)
}

/** Runs a command in the sandbox, one at a time for each user. */
export function commandTool(files: Reading, sandbox: Sandbox): Tool {
  const slots = pLimit(AT_ONCE)
  const users = new Map<number, LimitFunction>()

  function inTurn<T>(user: number, work: () => Promise<T>): Promise<T> {
    let turn = users.get(user)
    if (!turn) users.set(user, (turn = pLimit(1)))
    const own = turn
    return own(() => slots(work)).finally(() => {
      if (own.activeCount === 0 && own.pendingCount === 0) users.delete(user)
    })
  }

  return toolOf({
    name: 'run_command',
    description:
      'Runs a shell command in a sealed sandbox with the usual Unix tools: no network, 20 seconds, 512 MiB of memory and 32 processes together. It sees a read-only copy of the files named in "paths" below /home, under the paths they have in the account, and may write below /tmp, which is gone afterwards. Answers what the command wrote; to keep results, write them with write_file.',
    parameters: Type.Object({
      command: Type.String({ minLength: 1, maxLength: 16_384, description: 'For /bin/sh.' }),
      paths: Type.Optional(Type.Array(FilePath, { maxItems: 50, description: 'Files and folders it needs.' })),
    }),
    effect: 'reads',
    untrusted: true,
    async run({ account, signal }, { command, paths = [] }) {
      const reason = refusedCommand(command)
      if (reason !== undefined) throw fault('forbidden', { text: `The command is refused: ${reason}.` })
      if (command.includes('\0')) throw fault('bad_request', { text: 'The command holds a NUL.' })
      const ran = await inTurn(account.id, () =>
        sandbox.run({ command, files: snapshot(files, account.id, paths), signal }),
      )
      return { text: report(ran) }
    },
  })
}
