import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFiles } from '../../src/contract/sync-files.ts'
import { runCommand, startCommandWith } from './command.ts'
import { filesBelow } from './contents.ts'

// An installation as its administrator sees it: the built command, its exit codes, and its HTTP responses.

export interface ServeProcess {
  url: string
  process: ChildProcess
  /** Output on standard error so far. */
  stderr(): string
  /** Ends it; returns the exit code. */
  end(): Promise<number | null>
}

/** Starts `svc serve` and waits until it is ready. Throws its output if it ends before that. */
export const startServe = (dataDir: string, ...args: string[]): Promise<ServeProcess> =>
  startServeWith({ HOME: dataDir, SVC_DATA_DIR: dataDir }, ...args)

/** The same with an environment. */
export async function startServeWith(env: NodeJS.ProcessEnv, ...args: string[]): Promise<ServeProcess> {
  const child = startCommandWith(env, 'serve', '--port', '0', ...args)
  const over = once(child, 'exit') as Promise<[number | null]>
  let [stdout, stderr] = ['', '']
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  const ready = () => /ready at (\S+)/.exec(stdout)?.[1]
  while (ready() === undefined) {
    const ended = await Promise.race([once(child.stdout!, 'data').then(() => false), over.then(() => true)])
    if (ended && ready() === undefined) throw new Error(`The server ended with ${child.exitCode}: ${stderr}`)
  }
  return {
    url: ready()!,
    process: child,
    stderr: () => stderr,
    async end() {
      child.kill('SIGTERM')
      return (await over)[0]
    },
  }
}

/** Runs a command that must succeed; returns its output. */
export async function done(dataDir: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(dataDir, ...args)
  if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout.trim()
}

/** A client with a token minted by the command. */
export async function clientOf(dataDir: string, url: string, username: string) {
  const headers = { authorization: `Bearer ${await done(dataDir, 'token', 'mint', '--user', username)}` }
  const address = ({ path }: { path: string }, action: string, at: string) =>
    `${url}${path}?action=${action}&path=${encodeURIComponent(at)}`
  return {
    async upload(at: string, body: Uint8Array): Promise<void> {
      const answer = await fetch(address(syncFiles.actions.upload, 'upload', at), { method: 'POST', body, headers })
      if (!answer.ok) throw new Error(`${at}: ${answer.status} ${await answer.text()}`)
    },
    async remove(at: string): Promise<void> {
      const body = JSON.stringify({ path: at })
      const sent = { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } }
      const answer = await fetch(`${url}${syncFiles.actions.delete.path}?action=delete`, sent)
      if (!answer.ok) throw new Error(`${at}: ${answer.status} ${await answer.text()}`)
    },
    async download(at: string): Promise<Buffer> {
      const answer = await fetch(address(syncFiles.actions.download, 'download', at), { headers })
      if (!answer.ok) throw new Error(`${at}: ${answer.status} ${await answer.text()}`)
      return Buffer.from(await answer.arrayBuffer())
    },
  }
}

/** All files below a folder with their hashes. */
export async function bytesBelow(folder: string): Promise<Record<string, string>> {
  const names = await filesBelow(folder)
  const hashes = names.map(async (name) =>
    createHash('sha256')
      .update(await readFile(join(folder, name)))
      .digest('hex'),
  )
  const found = await Promise.all(hashes)
  return Object.fromEntries(names.map((name, index) => [name, found[index]!]))
}
