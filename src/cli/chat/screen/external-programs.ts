import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { printable } from '../../../base/text.ts'
import { makeTemporaryFolder } from '../../../host/temporary-folder.ts'
import { Exit } from '../../exit.ts'

/** Splits a command into words; it is run without a shell. */
const wordsOf = (command: string): string[] => command.split(/\s+/).filter(Boolean)

/** Opens the text in the user's editor and returns the result. The editor uses the terminal until it exits. */
export async function editInEditor(text: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [program = 'vi', ...words] = wordsOf(env['VISUAL'] || env['EDITOR'] || 'vi')
  const folder = await makeTemporaryFolder('svc-chat-')
  try {
    const file = join(folder.path, 'message.md')
    await writeFile(file, text, { mode: 0o600 })
    await new Promise<void>((resolve, reject) => {
      const child = spawn(program, [...words, file], { stdio: 'inherit' })
      child.on('error', () =>
        reject(new Exit(1, `The editor ${program} cannot be started: set EDITOR to one that is installed.`)),
      )
      child.on('close', (code) =>
        code === 0 ? resolve() : reject(new Exit(1, `The editor ended with ${code}: the text was not changed.`)),
      )
    })
    return (await readFile(file, 'utf8')).replace(/\n$/, '')
  } finally {
    await folder.remove()
  }
}

export interface Notice {
  room: string
  from: string
  text: string
}

/**
 * Runs the notification command: its arguments are fixed; the message arrives on standard input and in SVC_CHAT_ROOM
 * and SVC_CHAT_FROM. Calls `failed` if it cannot be started.
 */
export function runNotifier(
  command: string,
  { room, from, text }: Notice,
  { env, failed }: { env: NodeJS.ProcessEnv; failed: (sentence: string) => void },
): void {
  const [program, ...words] = wordsOf(command)
  if (program === undefined) return
  const child = spawn(program, words, {
    env: { ...env, SVC_CHAT_ROOM: printable(room), SVC_CHAT_FROM: printable(from) },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => failed(`${program}, the command of --notify, cannot be started.`))
  // The program may exit without reading its input.
  child.stdin.on('error', () => undefined).end(text)
}
