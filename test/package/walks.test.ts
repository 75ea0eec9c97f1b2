import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { root } from '../shape/repository.ts'
import { temporaryFolder } from '../support/folder.ts'

// The walks of src/README.md, done in a copy of the repository exactly as they are written.

const run = promisify(execFile)
const map = readFileSync(join(root, 'src/README.md'), 'utf8')
const copy = await temporaryFolder()

/** A section of the map, without the indentation of its lists. */
function walkOf(title: string): string {
  const [, text = ''] = map.split(`## ${title}\n`)
  return text.split('\n## ')[0]!.replaceAll(/^ {3}/gm, '')
}

/** The code block after a text of the walk. */
function codeAfter(walk: string, text: string): string {
  const [, code] = /```\w*\n([^]*?)```/.exec(walk.slice(walk.indexOf(text))) ?? []
  if (!walk.includes(text) || code === undefined) throw new Error(`The map has no code after "${text}".`)
  return code
}

const path = (name: string): string => join(copy, name)

function write(name: string, text: string): void {
  mkdirSync(dirname(path(name)), { recursive: true })
  writeFileSync(path(name), text)
}

/** Replaces a text that is there once. */
function edit(name: string, before: string, after: string): void {
  const [start = '', end, ...more] = readFileSync(path(name), 'utf8').split(before)
  if (end === undefined || more.length > 0) throw new Error(`${name} does not contain "${before}" once.`)
  write(name, start + after + end)
}

/** The text before the last occurrence of `mark`, then `text`, then the rest. */
function insertBeforeLast(name: string, mark: string, text: string): void {
  const whole = readFileSync(path(name), 'utf8')
  const at = whole.lastIndexOf(mark)
  write(name, whole.slice(0, at) + text + whole.slice(at))
}

/** Runs the commands that a walk names, in their order; rejects with the output of the first one that fails. */
async function runCommandsOf(walk: string): Promise<string[]> {
  const commands = [...walk.matchAll(/`((?:npm|node) [^`]+)`/g)].map(([, command = '']) => command)
  const env = { ...process.env, FORCE_COLOR: '0', NODE_EXTRA_CA_CERTS: '', TEST_REPORT: '' }
  for (const command of commands) {
    const [program = '', ...args] = command.split(' ')
    await run(program, args, { cwd: copy, env, maxBuffer: 64 * 1_048_576 }).catch((error: { stdout: string }) => {
      throw new Error(`${command} failed:\n${error.stdout.slice(-4_000)}`, { cause: error })
    })
  }
  return commands
}

beforeAll(() => {
  const left = new Set(['node_modules', 'dist', '.git', 'wip'])
  for (const name of readdirSync(root)) if (!left.has(name)) cpSync(join(root, name), path(name), { recursive: true })
  // Links instead of one link to the folder: caches of the copy are its own.
  mkdirSync(path('node_modules'))
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), path(`node_modules/${name}`))
})

test('An action is added as the map says', { timeout: 900_000 }, async () => {
  const walk = walkOf('How to add an action')
  insertBeforeLast('src/contract/sync-status.ts', '})', codeAfter(walk, 'after `capabilities`'))
  write('src/http/sync-status/used.ts', codeAfter(walk, 'Write `src/http/sync-status/used.ts`'))
  const list = 'src/http/sync-status/sync-status.ts'
  edit(
    list,
    "import { ping } from './ping.ts'\n",
    "import { ping } from './ping.ts'\nimport { used } from './used.ts'\n",
  )
  edit(list, 'capabilities]', 'capabilities, used]')
  expect(await runCommandsOf(walk)).toHaveLength(3)
})

test('A command is added as the map says', { timeout: 900_000 }, async () => {
  const walk = walkOf('How to add a command')
  write('src/cli/usage/usage.ts', codeAfter(walk, 'Write `src/cli/usage/usage.ts`'))
  insertBeforeLast('src/cli/commands.ts', '}', codeAfter(walk, '`src/cli/commands.ts`'))
  edit('test/cli/words.test.ts', "    'whoami',\n", "    'whoami',\n    'usage',\n")
  write('test/cli/scripts/usage.txt', codeAfter(walk, '`test/cli/scripts/usage.txt`'))
  expect(await runCommandsOf(walk)).toHaveLength(2)
})

test('A synchronised column is added as the map says', { timeout: 900_000 }, async () => {
  const walk = walkOf('How to add a synchronised column')
  const [, declared = ''] = /Add `([^`]+)` to the table/.exec(walk) ?? []
  edit('src/contract/tables.ts', '      done: flag,\n', `      done: flag,\n      ${declared},\n`)
  const [, version = ''] = /SCHEMA_VERSION = (\d+)/.exec(readFileSync(path('src/contract/tables.ts'), 'utf8')) ?? []
  edit('src/contract/tables.ts', `SCHEMA_VERSION = ${version}`, `SCHEMA_VERSION = ${Number(version) + 1}`)
  edit(
    'test/contract/contract.test.ts',
    `expect(SCHEMA_VERSION).toBe(${version})`,
    `expect(SCHEMA_VERSION).toBe(${Number(version) + 1})`,
  )
  expect(await runCommandsOf(walk)).toHaveLength(3)
})
