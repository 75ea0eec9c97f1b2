import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Child {
  /** The text after `ready`: the URL of a server. */
  ready: string
  process: ChildProcess
  /** Kills it at once, like a power cut. */
  kill(): Promise<void>
  /** Ends it and waits. Returns the exit code. */
  end(): Promise<number | null>
}

// CommonJS packages inside an ES module need these.
const BANNER = [
  "import { createRequire as __createRequire } from 'node:module'",
  'const require = __createRequire(import.meta.url)',
  'const __filename = import.meta.filename',
  'const __dirname = import.meta.dirname',
].join('\n')

type Program = 'child' | 's3'

/** Options of Node. The package of the S3 server encrypts its page tokens with a cipher of the legacy provider. */
const flags: Record<Program, string[]> = { child: [], s3: ['--openssl-legacy-provider'] }

const programs = new Map<Program, Promise<string>>()

/** Bundles a program into one file, once per test file; concurrent builds write the same content. */
function bundled(program: Program): Promise<string> {
  const made = programs.get(program) ?? bundle(program)
  programs.set(program, made)
  return made
}

async function bundle(program: Program): Promise<string> {
  const folder = join(root, 'node_modules', '.cache', 'svc-tests')
  await mkdir(folder, { recursive: true })
  const outfile = join(folder, `${program}.mjs`)
  const fresh = join(folder, `${program}-${process.pid}.mjs`)
  await build({
    entryPoints: [fileURLToPath(new URL(`./${program}-program.ts`, import.meta.url))],
    outfile: fresh,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['better-sqlite3', 'better-sqlite3-napi', '@node-rs/argon2', 's3rver'],
    banner: { js: BANNER },
    logLevel: 'warning',
  })
  await rename(fresh, outfile)
  return outfile
}

/** Starts the program on a folder, optionally through another command (`strace …`), and waits until it is ready. */
export const startChild = (
  what: 'serve' | 'open' | 'backup' | 'archive' | 'restore',
  folder: string,
  behind: string[] = [],
): Promise<Child> => startProgram('child', [what, folder], behind)

/** Starts an S3 server with its buckets in a folder, and waits until it is ready. */
export const startS3 = (folder: string): Promise<Child> => startProgram('s3', [folder])

async function startProgram(program: Program, wanted: string[], behind: string[] = []): Promise<Child> {
  const [command, ...args] = [...behind, process.execPath, ...flags[program], await bundled(program), ...wanted]
  const child = spawn(command!, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, UV_USE_IO_URING: '0' },
  })
  const over = once(child, 'exit') as Promise<[number | null]>
  let said = ''
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  while (!said.includes('\n')) {
    const ended = await Promise.race([once(child.stdout, 'data').then(() => false), over.then(() => true)])
    if (ended && !said.includes('\n')) throw new Error(`The program ended before it was ready: ${complaint}`)
  }
  return {
    ready: said.slice('ready '.length).trim(),
    process: child,
    async kill() {
      child.kill('SIGKILL')
      await over
    },
    async end() {
      child.stdin.end()
      return (await over)[0]
    },
  }
}
