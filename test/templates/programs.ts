import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import type { Globals } from '../../src/cli/command.ts'
import { filledFiles, templateNamed, valuesOf } from '../../src/cli/template/fill.ts'

// Programs of the system that read what templates say; where one is missing, its test is skipped.

// Daemons stand where only the administrator looks for them.
const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/sbin']

/** Where a program stands; undefined when it is not installed. */
export const programNamed = (name: string): string | undefined =>
  folders.map((folder) => join(folder, name)).find((path) => existsSync(path))

/** Runs a program to its end; what it printed counts, whatever its exit code. */
export const run = (program: string, args: string[], env: Record<string, string> = {}) =>
  promisify(execFile)(program, args, { env: { PATH: folders.join(delimiter), ...env }, timeout: 60_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, text: stdout + stderr }),
  )

const globals: Globals = { env: {}, json: false, debug: false, dataDir: undefined, profile: undefined }

interface Given {
  host?: string
  user?: string
  port?: number
  dataDir?: string
}

/** The files of a template by name, filled in. */
export async function written(name: string, { dataDir, ...given }: Given = {}): Promise<Record<string, string>> {
  const values = valuesOf({ host: undefined, user: undefined, port: undefined, ...given }, { ...globals, dataDir })
  const files = await filledFiles(templateNamed(name), values)
  return Object.fromEntries(files.map((file) => [file.name, file.text]))
}

/** A port nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  )
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts a program that runs until the end of the test; says what it printed. */
export function startProgram(program: string, args: string[], env: Record<string, string> = {}): () => string {
  let printed = ''
  const child = spawn(program, args, { env: { PATH: folders.join(delimiter), ...env }, detached: true })
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()))
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  onTestFinished(async () => {
    // It and its workers.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await ended
  })
  return () => printed
}
