import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import type { Globals } from '../../src/cli/command.ts'
import { filledFiles, templateNamed, valuesOf } from '../../src/cli/template/placeholders.ts'

// Programs of the system that read what templates say; where one is missing, its test is skipped.

// Daemons stand where only the administrator looks for them.
const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/sbin']

/** Where a program stands; undefined when it is not installed. */
export const programNamed = (name: string): string | undefined =>
  folders.map((folder) => join(folder, name)).find((path) => existsSync(path))

/** Runs a program to its end; what it printed counts, whatever its exit code. */
export const run = (program: string, args: string[], env: Record<string, string> = {}) =>
  promisify(execFile)(program, args, { env: { PATH: folders.join(delimiter), ...env }, timeout: 120_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, text: stdout + stderr }),
  )

const globals: Globals = { env: {}, json: false, debug: false, quiet: false, dataDir: undefined, profile: undefined }

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

export interface Started {
  /** What it has printed up to now. */
  printed(): string
  /** Sends a signal to it and its workers, and waits until it has ended. */
  end(signal: NodeJS.Signals): Promise<void>
}

/** Starts a program that runs until the end of the test, at the latest. */
export function startProgram(program: string, args: string[], env: Record<string, string> = {}): Started {
  let printed = ''
  const child = spawn(program, args, { env: { PATH: folders.join(delimiter), ...env }, detached: true })
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()))
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const end: Started['end'] = async (signal) => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
      process.kill(-child.pid, signal)
    await ended
  }
  onTestFinished(() => end('SIGTERM'))
  return { printed: () => printed, end }
}

export interface Ports {
  http: number
  https: number
}

/** Starts Caddy with a Caddyfile, on free ports of this machine and with certificates of its own making. */
export async function startCaddy(program: string, text: string, ports: Ports, folder: string, admin = 'off') {
  const file = join(folder, 'Caddyfile')
  const own = `admin ${admin}\nlocal_certs\nskip_install_trust\nhttp_port ${ports.http}\nhttps_port ${ports.https}`
  // A block of options is there once, and first.
  const options = /^\{$/m
  await writeFile(file, options.test(text) ? text.replace(options, `{\n${own}`) : `{\n${own}\n}\n${text}`)
  const env = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const args = ['--config', file, '--adapter', 'caddyfile']
  const { code, text: said } = await run(program, ['validate', ...args], env)
  if (code !== 0) throw new Error(said)
  return startProgram(program, ['run', ...args], env)
}
