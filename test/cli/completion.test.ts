import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bash } from '../../src/cli/completion/bash.ts'
import { fish } from '../../src/cli/completion/fish.ts'
import { powershell } from '../../src/cli/completion/powershell.ts'
import { readTree, type FlagCompletion, type Tree } from '../../src/cli/completion/command-tree.ts'
import { nouns } from '../../src/cli/commands.ts'
import { zsh } from '../../src/cli/completion/zsh.ts'

const flag = (long: string, more: Partial<FlagCompletion> = {}): FlagCompletion => ({
  long,
  short: undefined,
  summary: `what ${long} isn't`,
  takesValue: false,
  choices: [],
  ...more,
})

const tree: Tree = {
  nouns: [
    {
      name: 'serve',
      summary: 'Run',
      aliases: [],
      verbs: [{ name: '', summary: 'Run', flags: [flag('--port', { takesValue: true })] }],
    },
    {
      name: 'user',
      summary: 'Accounts: people',
      aliases: ['users'],
      verbs: [
        {
          name: 'add',
          summary: "Add somebody's account",
          flags: [flag('--role', { takesValue: true, choices: ['user', 'admin'] }), flag('--yes', { short: '-y' })],
        },
        { name: 'list', summary: 'List', flags: [] },
      ],
    },
    {
      name: 'sync',
      summary: 'Synchronise',
      aliases: [],
      verbs: [
        { name: '', summary: 'Synchronise', flags: [flag('--dry-run')] },
        { name: 'init', summary: 'Begin', flags: [flag('--adopt')] },
      ],
    },
  ],
  globals: [flag('--json'), flag('--profile', { takesValue: true }), flag('--help', { short: '-h' })],
}

const folder = mkdtempSync(join(tmpdir(), 'svc-completion-'))
beforeAll(() => {
  for (const [name, script] of Object.entries({
    bash: bash(tree),
    zsh: zsh(tree),
    fish: fish(tree),
    ps1: powershell(tree),
  })) {
    writeFileSync(join(folder, name), script)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const run = (shell: string, args: string[], options: object = {}): string =>
  execFileSync(shell, args, { encoding: 'utf8', cwd: folder, ...options })

const has = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined

const cases: [line: string, words: string[]][] = [
  ['svc ', ['serve', 'user', 'sync', 'help']],
  ['svc u', ['user']],
  ['svc user ', ['add', 'list']],
  ['svc users a', ['add']],
  ['svc --profile work user ', ['add', 'list']],
  ['svc --json user l', ['list']],
  ['svc user add --', ['--role', '--yes', '--json', '--profile', '--help']],
  ['svc user add --role ', ['user', 'admin']],
  ['svc user add --role a', ['admin']],
  ['svc user list --r', []],
  ['svc sync ', ['init']],
  ['svc sync --d', ['--dry-run']],
  ['svc sync init --', ['--adopt', '--json', '--profile', '--help']],
  ['svc serve ', []],
]

describe.skipIf(!has('bash'))('bash', () => {
  test.each(cases)('completes "%s"', (line, words) => {
    const typed = line.split(' ').map((word) => `'${word}'`)
    const script = `source ${join(folder, 'bash')}
      COMP_WORDS=(${typed.join(' ')}); COMP_CWORD=${typed.length - 1}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`
    const found = run('bash', ['--norc', '-c', script]).split('\n').filter(Boolean)
    expect(found.filter((word) => !/^-.$/.test(word)).sort()).toEqual([...words].sort())
  })
})

describe.skipIf(!has('bash'))('the real commands', () => {
  test('complete in bash, every one with its verbs and flags', async () => {
    const real = await readTree(nouns)
    writeFileSync(join(folder, 'real'), bash(real))
    const lines = real.nouns.flatMap(({ name, aliases, verbs }) => [
      ...[name, ...aliases].map((noun) => ({ typed: ['svc', noun, ''], words: verbs.map((verb) => verb.name) })),
      ...verbs.map(({ name: verb, flags }) => ({
        typed: ['svc', name, ...(verb ? [verb] : []), '--'],
        words: flags.map(({ long }) => long),
      })),
    ])
    const script = lines.map(({ typed }) => {
      const quoted = typed.map((word) => `'${word}'`).join(' ')
      return `COMPREPLY=(); COMP_WORDS=(${quoted}); COMP_CWORD=${typed.length - 1}; _svc; echo " \${COMPREPLY[*]} "`
    })
    const said = run('bash', ['--norc', '-c', `source ${join(folder, 'real')}\n${script.join('\n')}`]).split('\n')
    for (const [at, { typed, words }] of lines.entries()) {
      const missing = words.filter((word) => word && !said[at]!.includes(` ${word} `))
      expect([typed.join(' '), missing]).toEqual([typed.join(' '), []])
    }
    expect(lines.map(({ typed }) => typed.join(' '))).toContain('svc app rollback --')
  })
})

describe.skipIf(!has('fish'))('fish', () => {
  test.each(cases.filter(([line]) => line !== 'svc serve '))('completes "%s"', (line, words) => {
    const script = `source ${join(folder, 'fish')}; complete -C '${line}'`
    const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
    const found = run('fish', ['--no-config', '-c', script], { env })
    const names = found.split('\n').flatMap((entry) => entry.split('\t')[0] || [])
    const own = names.filter((word) => !/^-.$/.test(word) && !['bash', 'zsh', 'fish', 'ps1'].includes(word))
    expect(own.sort()).toEqual(words.filter((word) => word !== 'help').sort())
  })
})

test.skipIf(!has('zsh'))('zsh understands its script', () => {
  expect(spawnSync('zsh', ['-n', join(folder, 'zsh')], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

test('texts with quotes and colons are written so that each shell reads them whole', () => {
  expect(zsh(tree)).toContain(`'add:Add somebody'\\''s account'`)
  expect(fish(tree)).toContain(`-a add -d 'Add somebody\\'s account'`)
  expect(powershell(tree)).toContain(`'add' = 'Add somebody''s account'`)
})

test('the script for PowerShell names every command, flag and choice', () => {
  const script = powershell(tree)
  expect(script).toMatch(/'user add' = \[ordered\]@\{\s+'--role' = 'what --role isn''t'\s+'--yes' = /)
  expect(script).toContain(`'user add --role' = @('user', 'admin')`)
  expect(script).toContain(`'users' = 'user'`)
  for (const [open, close] of ['{}', '()', '[]'] as unknown as [string, string][]) {
    expect(script.split(open).length, `every ${open} is closed`).toBe(script.split(close).length)
  }
})
