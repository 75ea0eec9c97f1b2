// Runs commands one after another in one process, for warm-command.ts: a short command spends most of its time loading
// code. Otherwise a command behaves as in its own process, and ends when nothing keeps the event loop alive.
import { writeSync } from 'node:fs'
import process from 'node:process'
import { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const built = new URL('../../dist/svc.js', import.meta.url)
const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

/** Process events that a command listens to. */
const EVENTS = ['beforeExit', 'exit', 'uncaughtException', 'SIGINT', 'SIGTERM', 'SIGHUP']

const { reallyExit } = process
let printed = { stdout: [], stderr: [] }
let runs = 0

// Modules may store a stream, so it must be the same object for all commands.
for (const name of ['stdout', 'stderr']) {
  const write = (chunk, _encoding, done) => {
    printed[name].push(chunk)
    done()
  }
  Object.defineProperty(process, name, { value: new Writable({ write }) })
}

process.on('message', (wanted) => {
  run(wanted).then(
    (ended) => process.send(ended),
    (error) => {
      writeSync(2, `${error.stack}\n`)
      reallyExit.call(process, 1)
    },
  )
})

/** Resources that keep the process alive when idle: the channel to its parent. */
const idle = process.getActiveResourcesInfo().length

async function run({ words, cwd, env, stdin }) {
  printed = { stdout: [], stderr: [] }
  process.umask(0o022)
  process.chdir(cwd)
  process.argv = [process.execPath, program, ...words]
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  const input = Readable.from([Buffer.from(stdin)], { objectMode: false })
  Object.defineProperty(process, 'stdin', { value: input, configurable: true })
  let code
  process.exit = (given) => void (code ??= given)
  // Load the entry again; its modules are cached.
  await import(`${built.href}?${(runs += 1)}`)
  while (process.getActiveResourcesInfo().length > idle) await sleep(1)
  process.emit('beforeExit', 0)
  process.emit('exit', code)
  process.reallyExit = reallyExit
  for (const event of EVENTS) process.removeAllListeners(event)
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
  const textOf = (chunks) => Buffer.concat(chunks).toString('utf8')
  return { code, stdout: textOf(printed.stdout), stderr: textOf(printed.stderr) }
}
