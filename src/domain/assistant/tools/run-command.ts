import { Type } from 'typebox'
import pLimit, { type LimitFunction } from 'p-limit'
import { fault, isFault } from '../../../contract/errors.ts'
import type { Files } from '../../files/files.ts'
import type { Tool } from './tool.ts'
import { refusedCommand } from './blocklist.ts'
import type { FileBrowser } from './read-files.ts'
import { FilePath } from './argument-shapes.ts'
import { truncated } from './result-text.ts'
import { typedTool } from './typed-tool.ts'

export interface SandboxFile {
  /** Relative to the home of the sandbox. */
  path: string
  content: AsyncIterable<Uint8Array> | Uint8Array
}

/** Result of a command; the output has at most 64 KiB. */
export interface CommandResult {
  output: string
  /** Null if a signal ended it. */
  code: number | null
  timedOut: boolean
  truncated: boolean
}

/** Runs commands that see only the given files and change nothing outside. */
export interface Sandbox {
  run(job: { command: string; files: AsyncIterable<SandboxFile>; signal: AbortSignal }): Promise<CommandResult>
}

const SNAPSHOT = { bytes: 64 * 1_048_576, files: 2_000 }

const MAX_CONCURRENT = 2

type FileFacts = Awaited<ReturnType<FileBrowser['desktop']['facts']>>
type FileReader = FileBrowser & Pick<Files, 'read'>

/** The files below the user's paths, at the same paths as in the account. */
async function* snapshot(
  { desktop, read }: FileReader,
  user: number,
  paths: readonly string[],
): AsyncGenerator<SandboxFile> {
  const left = { ...SNAPSHOT }
  async function* file(path: string, { sha256, size }: FileFacts): AsyncGenerator<SandboxFile> {
    left.bytes -= size
    left.files -= 1
    if (left.bytes < 0 || left.files < 0)
      throw fault('too_large', { text: `A command can be given at most ${SNAPSHOT.files} files, 64 MiB together.` })
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

function report({ output, code, timedOut, truncated: isCut }: CommandResult): string {
  const end = timedOut
    ? 'It was stopped after 20 seconds.'
    : code === null
      ? 'It was killed: it used more memory or wrote more than it may.'
      : `It ended with ${code}.`
  return truncated(`${end}${isCut ? ' Its output is cut.' : ''}\n${output || '[no output]'}`)
}

/** Runs commands in the sandbox, one at a time per user. */
export function commandTool(files: FileReader, sandbox: Sandbox): Tool {
  const slots = pLimit(MAX_CONCURRENT)
  const users = new Map<number, LimitFunction>()

  function serialised<T>(user: number, work: () => Promise<T>): Promise<T> {
    let queue = users.get(user)
    if (!queue) users.set(user, (queue = pLimit(1)))
    const own = queue
    return own(() => slots(work)).finally(() => {
      if (own.activeCount === 0 && own.pendingCount === 0) users.delete(user)
    })
  }

  return typedTool({
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
      if (command.includes('\0')) throw fault('bad_request', { text: 'The command contains a NUL character.' })
      const result = await serialised(account.id, () =>
        sandbox.run({ command, files: snapshot(files, account.id, paths), signal }),
      )
      return { text: report(result) }
    },
  })
}
