import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { printable } from '../../../base/text.ts'
import { makeTemporaryFolder } from '../../../host/temporary-folder.ts'
import { Exit } from '../../exit.ts'

/** A command as its words; no shell ever sees it. */
const wordsOf = (command: string): string[] => command.split(/\s+/).filter(Boolean)

/** Hands a text to the user's editor and returns what it became. The terminal is the editor's meanwhile. */
export async function editInEditor(text: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [program = 'vi', ...words] = wordsOf(env['VISUAL'] || env['EDITOR'] || 'vi')
  const folder = await makeTemporaryFolder('svc-chat-')
  try {
    const file = join(folder.path, 'message.md')
    await writeFile(file, text, { mode: 0o600 })
    await new Promise<void>((resolve, reject) => {
      const child = spawn(program, [...words, file], { stdio: 'inherit' })
      child.on('error', () =>
        reject(new Exit(1, `The editor ${program} cannot be started: set EDITOR to one that is here.`)),
      )
      child.on('close', (code) =>
        code === 0 ? resolve() : reject(new Exit(1, `The editor ended with ${code}: the text stays as it was.`)),
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
 * Runs a command about a message: its words are fixed, what others wrote comes by standard input and by SVC_CHAT_ROOM and
 * SVC_CHAT_FROM. `failed` is told when it cannot be started.
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
  // It may end without reading.
  child.stdin.on('error', () => undefined).end(text)
}
