import { describe, expect, test } from 'vitest'
import { kebabCase, type ArgSpec, type CommandSpec } from '../../src/cli/command.ts'
import { nouns } from '../../src/cli/commands.ts'
import { parse } from '../../src/cli/program.ts'
import { parseSimply } from '../../src/cli/simple-command-line.ts'

/** Values that some flags accept; a flag takes the first that it does. */
const VALUES = ['text', '5', '2d', '10GB', '2026-11-26', '2026-11-26T10:00:00Z']

function valueOf({ parse: read, choices }: CommandSpec['flags'][string]): string | undefined {
  return [...(choices ?? []), ...VALUES].find((text) => {
    try {
      read?.(text)
      return true
    } catch {
      return false
    }
  })
}

const wordsOf = (spec: ArgSpec): string[] => (typeof spec !== 'string' && spec.many ? ['one', 'two'] : ['one'])

/** Command lines of a command: with required arguments only, with all of them, and with each flag. */
function commandLines(words: string[], spec: CommandSpec): string[][] {
  const args = Object.values(spec.args)
  const required = args.filter((arg) => typeof arg === 'string' || !arg.optional).flatMap(wordsOf)
  const all = args.flatMap(wordsOf)
  const flags = Object.entries(spec.flags).flatMap(([name, flag]) => {
    const value = flag.value === undefined ? undefined : valueOf(flag)
    if (flag.value !== undefined && value === undefined) return []
    const forms = [`--${kebabCase(name)}`, ...(flag.short === undefined ? [] : [`-${flag.short}`])]
    const each = forms.map((form) => (value === undefined ? [form] : [form, value]))
    return flag.many ? [...each, [...each[0]!, ...each[0]!]] : each
  })
  const lines = [
    required,
    all,
    ...flags.flatMap((flag) => [
      [...flag, ...all],
      [...required, ...flag],
    ]),
    flags.flat(2),
  ]
  const mistakes = [
    [],
    [...all, 'surplus'],
    [...all, '--no-such-flag'],
    ['--', ...all],
    ['', ...all],
    [...all, '--help'],
  ]
  const globals = ['--json', '--debug', '--quiet', '--no-color', '--data-dir=x'].map((flag) => [...required, flag])
  const valued = ['--data-dir', '--profile'].map((flag) => [flag, 'x', ...required])
  return [...lines, ...mistakes, ...globals, ...valued].map((line) => [...words, ...line])
}

describe.each(Object.entries(nouns))('svc %s', (name, noun) => {
  test.each(Object.keys(noun.verbs))('%s is read as by commander', async (verb) => {
    const spec = await noun.verbs[verb]!()
    const words = verb === '' ? [name] : [name, verb]
    for (const line of commandLines(words, spec)) {
      const simple = await parseSimply(line, nouns)
      // What is not of the usual form is left to commander.
      if (simple) expect(await parse(line, nouns), line.join(' ')).toEqual(simple)
    }
    const plain = await parseSimply([...words, ...Object.values(spec.args).flatMap(wordsOf)], nouns)
    if (verb !== '' || Object.keys(noun.verbs).length === 1) expect(plain?.spec).toBe(spec)
  })
})

test.each([
  [[]],
  [['no-such-command']],
  [['--json', 'whoami']],
  [['whoami', '-q']],
  [['whoami', '--help']],
  [['files', 'list-all']],
  [['files', 'ls', '--long', '--long']],
  [['files', 'ls', '-']],
  [['serve', '--port', '--json']],
  [['serve', '--port=1']],
  [['serve', '--log-level', 'loud']],
  [['ask', 'lgo']],
])('%j is left to commander', async (line) => {
  expect(await parseSimply(line, nouns)).toBeUndefined()
})
