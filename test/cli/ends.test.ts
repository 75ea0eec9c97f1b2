import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CommandSpec } from '../../src/cli/command.ts'
import { nouns } from '../../src/cli/commands.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startServe } from '../support/outside.ts'
import { hasPty, onTerminal } from '../support/pty.ts'
import { makeRandom } from '../support/random.ts'
import { runWarm } from '../support/warm-command.ts'

// Every class of command meets every way to end early: the end of its input, a reader that goes away, SIGINT at any moment, a
// refusal before it begins. What is tested is the built command; what it did is asked of the next one.

const program = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))
const SEED = 20_261_123

/** What tells commands apart when they end early: what they open, whether they change something, and what they ask. */
function classOf({ needs, onlyPrints, flags }: CommandSpec): string {
  const effect = onlyPrints === true ? 'prints' : onlyPrints ? 'prints or changes' : 'changes'
  const asks = 'yes' in flags ? ', confirms' : 'passwordStdin' in flags ? ', asks for a password' : ''
  return `${needs}: ${effect}${asks}`
}

interface Walk {
  args: string[]
  /** Commands that make what it needs; run before each of its runs, whatever they answer. */
  before?: string[][]
  /** Makes work for it, which a run that was cut off leaves to the next one. */
  work?: () => void
  /** Its exit code when it ran to its end, 0 where none is named. */
  code?: number
  /** What another command prints when its work is done. */
  afterwards?: { args: string[]; shows: RegExp }
  /** What it says where it asks and there is no terminal. */
  missing?: RegExp
  /** What it asks on a terminal. */
  asks?: string
}

const walks: Record<string, Walk> = {
  'nothing: prints': { args: ['profile', 'list'] },
  'nothing: changes': { args: ['template', 'write', 'sample-seed', '--to', '$WORK/t', '--force'] },
  'nothing: changes, confirms': {
    before: [
      ['backup', 'create'],
      ['backup', 'create'],
    ],
    args: ['backup', 'prune', '--keep-last', '1', '--keep-daily', '0', '--keep-weekly', '0', '--keep-monthly', '0'],
    asks: 'Remove',
    missing: /--yes/,
  },
  'nothing: changes, asks for a password': {
    args: ['login', '$URL', '--username', 'ada', '--profile', 'second'],
    code: 2,
    asks: 'Password',
    missing: /--password-stdin/,
  },
  'commands: prints': { args: ['completion', 'bash'] },
  'backup: changes': { args: ['backup', 'create'], afterwards: { args: ['backup', 'list'], shows: /\d{4}/ } },
  'domain: prints': { args: ['user', 'list'] },
  'domain: prints or changes': { args: ['user', 'export', 'ada', '--to', '-'] },
  'domain: prints or changes, confirms': {
    args: ['user', 'sessions', 'ada', '--end'],
    asks: 'End',
    missing: /--yes/,
  },
  'domain: changes': {
    before: [['user', 'set', 'ada', '--display-name', 'Before']],
    args: ['user', 'set', 'ada', '--display-name', 'After'],
    afterwards: { args: ['user', 'show', 'ada'], shows: /After/ },
  },
  'domain: changes, confirms': {
    before: [['app', 'add', 'walked', '--path', '/apps/walked/index.html']],
    args: ['app', 'remove', 'walked'],
    asks: 'Remove',
    missing: /--yes/,
    afterwards: { args: ['app', 'list'], shows: /^(?![^]*walked)/ },
  },
  'domain: changes, asks for a password': {
    args: ['user', 'passwd', 'ada', '--keep-devices'],
    asks: 'New password',
    missing: /--password-stdin/,
  },
  'either: prints': { args: ['component', 'list'] },
  'either: changes, confirms': {
    before: [['component', 'save', 'walked', '$WORK/walked.css']],
    args: ['component', 'reset', 'walked'],
    asks: 'Turn off',
    missing: /--yes/,
  },
  'server: prints': { args: ['files', 'ls'] },
  'server: prints or changes': { args: ['files', 'get', '/one.txt', '$WORK/one.txt', '--force'] },
  'server: prints or changes, confirms': {
    // Several profiles can have one name, and an interrupted run may have left this one.
    before: [
      ['component', 'profile', 'remove', 'Walked', '--yes'],
      ['component', 'profile', 'save', 'Walked'],
    ],
    args: ['component', 'profile', 'remove', 'Walked'],
    asks: 'Walked',
    missing: /--yes/,
  },
  'server: changes': {
    work() {
      for (let n = 0; n < 8; n++) writeFileSync(join(work, 'folder', 'new', `${n}.txt`), `file ${n} at ${(round += 1)}`)
    },
    args: ['sync', '$WORK/folder', '--json'],
    afterwards: { args: ['sync', 'status', '$WORK/folder', '--json'], shows: /"pending": \[\]/ },
  },
  'server: changes, confirms': {
    before: [['files', 'mkdir', '/gone', '--if-missing']],
    args: ['files', 'rm', '-r', '/gone'],
    asks: 'Delete',
    missing: /--yes/,
    afterwards: { args: ['files', 'ls'], shows: /^(?![^]*gone)/ },
  },
}

let env: Record<string, string>
let work: string
let url = ''
let round = 0
let server: ReturnType<typeof spawn>

const filled = (args: readonly string[]): string[] => args.map((arg) => arg.replace('$WORK', work).replace('$URL', url))

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** Runs a command; `meet` does something to it as soon as it is started. */
async function svc(
  args: readonly string[],
  meet: (child: ReturnType<typeof spawn>) => void = () => undefined,
  stdio: StdioOptions = ['ignore', 'pipe', 'pipe'],
): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...filled(args)], { env, cwd: work, stdio })
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  meet(child)
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { code, signal, stdout, stderr }
}

/** Runs a command that nothing is done to, in a process shared with others. */
const undisturbed = (args: readonly string[]) => runWarm({ words: filled(args), cwd: work, env, stdin: '' })

const makeReady = async ({ before = [] }: Walk): Promise<void> => {
  for (const args of before) await undisturbed(args)
}

/** Its command line with the answer to what it asks. */
const answered = ({ args, asks, code }: Walk): string[] => {
  if (asks === undefined || code !== undefined) return args
  return [...args, asks === 'New password' ? '--generate' : '--yes']
}

async function expectDone({ afterwards }: Walk): Promise<void> {
  if (!afterwards) return
  const { stdout, code } = await undisturbed(afterwards.args)
  expect(code).toBe(0)
  expect(stdout).toMatch(afterwards.shows)
}

beforeAll(async () => {
  const home = await temporaryFolder()
  work = join(home, 'work')
  mkdirSync(join(work, 'folder', 'new'), { recursive: true })
  for (let n = 0; n < 8; n++) writeFileSync(join(work, 'folder', 'new', `${n}.txt`), `file ${n}`)
  writeFileSync(join(work, 'walked.css'), 'a { color: red }')
  env = { PATH: process.env['PATH']!, HOME: home, SVC_DATA_DIR: join(home, 'data'), TZ: 'UTC', TMPDIR: home }
  const seed = {
    users: [
      { username: 'ada', role: 'admin', token: true, generate: true, files: [{ path: '/one.txt', text: 'one' }] },
    ],
  }
  writeFileSync(join(work, 'seed.json'), JSON.stringify(seed))
  const args = ['serve', '--port', '0', '--seed', 'seed.json', '--ready-file', 'ready.json', '--json']
  server = spawn(process.execPath, [program, ...args], {
    env: { ...env, SVC_LIMITS: 'off' },
    cwd: work,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = (await once(server.stdout!.setEncoding('utf8'), 'data')) as [string]
  url = (JSON.parse(line.split('\n')[0]!) as { url: string }).url
  const { default: ready } = (await import(join(work, 'ready.json'), { with: { type: 'json' } })) as {
    default: { tokens: { ada: string } }
  }
  Object.assign(env, { SVC_URL: url, SVC_TOKEN: ready.tokens.ada })
  await undisturbed(['sync', 'init', '$WORK/folder'])
  await undisturbed(['config', 'set', 'backup.to', '$WORK/backups'])
}, 300_000)

afterAll(async () => {
  const over = once(server, 'close')
  server.kill('SIGTERM')
  await over
})

test('Every class of command in the table of commands is walked, and no other', async () => {
  const specs = await Promise.all(
    Object.values(nouns).flatMap(({ verbs }) => Object.values(verbs).map((load) => load())),
  )
  expect([...new Set(specs.map(classOf))].sort()).toEqual(Object.keys(walks).sort())
})

const random = makeRandom(SEED)

test.each(Object.entries(walks))(
  'A command of the class "%s" ends in every way as it says',
  { timeout: 600_000 },
  async (_, walk) => {
    // A reader that goes away before the first line.
    walk.work?.()
    await makeReady(walk)
    const unread = await svc(answered(walk), ({ stdout }) => stdout!.destroy())
    expect(unread).toMatchObject({ code: walk.code ?? 0, signal: null })
    if (walk.code === undefined) expect(unread.stderr).not.toMatch(/EPIPE|svc:/)
    await expectDone(walk)

    // SIGINT at any moment, then the same again.
    walk.work?.()
    await makeReady(walk)
    const stopped = await svc(answered(walk), (child) => {
      const timer = setTimeout(() => child.kill('SIGINT'), random.below(700))
      child.once('close', () => clearTimeout(timer))
    })
    // Before the first line of the program ran, the system ended it.
    if (stopped.code === null) expect(stopped).toMatchObject({ signal: 'SIGINT', stdout: '' })
    else if (stopped.code === 130) expect(stopped.stderr).toMatch(/svc: Interrupted|"interrupted"/)
    else expect(stopped.code).toBe(walk.code ?? 0)
    await makeReady(walk)
    expect(await undisturbed(answered(walk))).toMatchObject({ code: walk.code ?? 0 })
    await expectDone(walk)

    if (walk.asks === undefined) return
    // Without a terminal nothing is asked, and nothing is done.
    await makeReady(walk)
    const refused = await svc(walk.args)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(walk.missing!)

    if (!hasPty) return
    const asked = (step: object) => onTerminal(env, filled(walk.args), [{ after: walk.asks!, ...step } as never])
    for (const step of [{ type: '\u0004' }, { type: '\u0003' }, { signal: 'SIGINT' }]) {
      const { code, output } = await asked(step)
      expect({ step, code }).toEqual({ step, code: 130 })
      expect(output).toMatch(/svc: Interrupted\.\s*$/)
    }
    expect((await asked({ hangup: true })).code).toBe(130)
  },
)

test('A sync whose reader goes away after its first line still sends every file', async () => {
  mkdirSync(join(work, 'folder', 'piped'))
  for (let n = 0; n < 8; n++) writeFileSync(join(work, 'folder', 'piped', `${n}.txt`), `piped ${n}`)
  const { code } = await svc(['sync', '$WORK/folder', '--json'], ({ stdout }) =>
    stdout!.once('data', () => stdout!.destroy()),
  )
  expect(code).toBe(0)
  expect(JSON.parse((await undisturbed(['files', 'ls', '/piped', '--json'])).stdout)).toHaveLength(8)
})

test('Standard output that cannot be written fails every command that did its work', async () => {
  const { openSync, closeSync, existsSync } = await import('node:fs')
  if (!existsSync('/dev/full')) return
  const full = openSync('/dev/full', 'w')
  const more = ['doctor', '--help', 'help exit-codes', 'help durability', 'app --help', '--version']
  const whole = Object.values(walks).filter(({ missing, code }) => missing === undefined && code === undefined)
  for (const walk of [...more.map((line) => ({ args: line.split(' ') })), ...whole]) {
    const { args } = walk
    await makeReady(walk)
    const { code, stderr } = await svc(args, undefined, ['ignore', full, 'pipe'])
    if (code === 0 && (await undisturbed(args)).stdout === '') continue
    expect([args, code, stderr]).toEqual([
      args,
      1,
      expect.stringMatching(/^svc: Standard output cannot be written: .*ENOSPC/m),
    ])
  }
  // What cannot be shown again goes where it can be read.
  const { code, stderr } = await svc(['user', 'add', 'lost', '--generate'], undefined, ['ignore', full, 'pipe'])
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^Added lost\.\n\n {4}\S+\n\nThis password is not shown again\.$/m),
  ])
  closeSync(full)
})

test('A process that ends before the command is done says so and ends with 70, whatever a library wants', async () => {
  const file = join(work, 'library.mjs')
  const library = (open: string) => `import promises from 'node:fs/promises'
    import { syncBuiltinESMExports } from 'node:module'
    const { open } = promises
    promises.open = (file, ...rest) => (String(file).endsWith('credentials.json') ? (${open})() : open(file, ...rest))
    syncBuiltinESMExports()
    process.on('exit', () => { process.exitCode = 0 })`
  const hangs = library('() => new Promise(() => {})')
  const exits = library('() => process.exit(0)')
  const throws = library(`() => new Promise(() => setImmediate(() => { throw new Error('of a library') }))`)
  const before = env
  const { SVC_TOKEN: _, SVC_URL: __, ...stored } = env
  env = { ...stored, NODE_OPTIONS: `--import ${file}` }
  for (const [source, code, says] of [
    [hangs, 70, /^svc: The command ended before its work was done/m],
    [exits, 70, /^svc: The command ended before its work was done/m],
    [throws, 70, /of a library/],
  ] as const) {
    writeFileSync(file, source)
    const ended = await svc(['whoami'])
    expect({ source, code: ended.code }).toEqual({ source, code })
    expect(ended.stderr).toMatch(says)
  }
  env = before
  expect((await svc(['help', 'exit-codes'])).stdout).toMatch(/^ 70 {2}ended before its work was done/m)
})

test('A second server on the same data directory says so, as long as the first one runs', async () => {
  const dataDir = await temporaryFolder()
  const first = await startServe(dataDir)
  const second = await startServe(dataDir)
  for (const server of [second, first]) expect(await server.end()).toBe(0)
  expect(second.stderr()).toContain(
    `Another server (process ${first.process.pid} on ${hostname()}) works on ${dataDir}.`,
  )
  // What was left by a container that was killed and replaced: nobody has touched it for a while.
  const left = join(dataDir, 'server.lock')
  writeFileSync(left, JSON.stringify({ pid: 1, host: 'a-container', began: '', token: 'x' }))
  const longAgo = new Date(Date.now() - 600_000)
  utimesSync(left, longAgo, longAgo)
  const third = await startServe(dataDir)
  expect(await third.end()).toBe(0)
  expect(third.stderr()).not.toContain('Another server')
  rmSync(dataDir, { recursive: true })
})

test('A server whose readers of stdout and stderr go away goes on', async () => {
  const ready = join(work, 'unread.json')
  const child = spawn(
    process.execPath,
    [program, 'serve', '--ephemeral', '--port', '0', '--ready-file', ready, '--log-level', 'debug'],
    { env, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const over = once(child, 'close')
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  const address = /http:\S+/.exec(line)![0]
  for (const stream of [child.stdout, child.stderr]) stream.destroy()
  for (let n = 0; n < 5; n++) expect((await fetch(`${address}/healthz`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await over).toEqual([0, null])
})

const ephemerals = (): string[] => readdirSync(env['TMPDIR']!).filter((name) => name.startsWith('svc-ephemeral-'))

test(
  'Whatever ends a throw-away server its directory goes; that of a killed one goes with the next start',
  { timeout: 300_000 },
  async () => {
    const start = async () => {
      const child = spawn(process.execPath, [program, 'serve', '--ephemeral', '--port', '0'], {
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const over = once(child, 'exit')
      await once(child.stdout, 'data')
      return { child, over }
    }
    for (const signal of ['SIGHUP', 'SIGQUIT', 'SIGTERM', 'SIGINT'] as const) {
      const { child, over } = await start()
      expect(ephemerals()).toHaveLength(1)
      child.kill(signal)
      expect({ signal, ended: await over }).toEqual({ signal, ended: [0, null] })
      expect(ephemerals()).toEqual([])
    }
    const killed = await start()
    const running = await start()
    killed.child.kill('SIGKILL')
    await killed.over
    expect(ephemerals()).toHaveLength(2)
    const next = await start()
    // Only that of the running ones is left.
    expect(ephemerals()).toHaveLength(2)
    for (const { child, over } of [running, next]) {
      child.kill('SIGTERM')
      await over
    }
    expect(ephemerals()).toEqual([])
    if (!hasPty) return
    const { code } = await onTerminal(
      env,
      ['serve', '--ephemeral', '--port', '0'],
      [{ after: 'svc is ready', hangup: true }],
    )
    expect(code).toBe(0)
    expect(ephemerals()).toEqual([])
  },
)

test('What a server writes to stderr is JSON lines when its log is, from the start to an error', async () => {
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; level: number })
  const fresh = ['serve', '--ephemeral', '--port', '0', '--seed', 'plain.json']
  writeFileSync(
    join(work, 'plain.json'),
    JSON.stringify({ users: [{ username: 'bob', password: 'analytical engine' }] }),
  )
  const served = await svc(fresh, (child) => child.stdout!.once('data', () => child.kill('SIGTERM')))
  expect(served.code).toBe(0)
  expect(
    lines(served.stderr)
      .map(({ msg }) => msg)
      .join('\n'),
  ).toMatch(/plain text[^]*Added 1 user[^]*no administrator[^]*Stopping/)
  const refused = await svc(['serve', '--ephemeral', '--port', '70000'])
  expect(refused.code).toBe(2)
  expect(lines(refused.stderr)).toMatchObject([
    { level: 60, msg: expect.stringMatching(/^--port/) as string, exit_code: 2 },
  ])
})

test('--quiet prints nothing but errors and what cannot be shown again, and --yes is taken by whatever changes something', async () => {
  expect(await svc(['user', 'set', 'ada', '--display-name', 'Quiet', '-q', '--yes'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  })
  expect(await svc(['user', 'list', '--quiet'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect((await svc(['user', 'passwd', 'ada', '--generate', '--keep-devices', '-q'])).stdout).toContain(
    'not shown again',
  )
  expect((await svc(['user', 'show', 'nobody', '-q'])).stderr).toMatch(/^svc: /)
})

test('A setting that the environment overrides is stored without being called in force', async () => {
  const before = env
  env = { ...env, SVC_PUBLIC_URL: 'https://cloud.example.org' }
  for (const [verb, says] of [
    [
      ['set', 'public_url', 'https://other.example.org'],
      /stored but not in effect: the environment variable SVC_PUBLIC_URL/,
    ],
    [['unset', 'public_url'], /the environment variable SVC_PUBLIC_URL also sets it/],
  ] as const) {
    const { code, stdout } = await svc(['config', ...verb])
    expect(code).toBe(3)
    expect(stdout).toMatch(says)
  }
  env = before
  const { code, stderr } = await svc(['config', 'set', 'public_url', 'https://ada:secret@example.org'])
  expect(code).toBe(2)
  expect(stderr).toMatch(/must not contain a user name or a password/)
  expect(stderr).not.toContain('secret')
})
