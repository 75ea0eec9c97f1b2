import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nouns } from '../../src/cli/commands.ts'
import { root } from './repository.ts'

const folder = join(root, 'test/cli/scripts')
const scripts = readdirSync(folder)
  .filter((name) => name.endsWith('.txt'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n')

const commands = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs).map(([verb, load]) => ({
    name: verb === '' ? noun : `${noun} ${verb}`,
    // The noun itself as a command is not followed by one of its verbs.
    others: verb === '' ? Object.keys(verbs).filter((other) => other !== '') : [],
    load,
  })),
)

describe.each(commands)('svc $name', ({ name, others, load }) => {
  const call = new RegExp(`\\bsvc ${name}(?![\\w-])${others.length > 0 ? `(?! (?:${others.join('|')})\\b)` : ''}`)

  test('is declared under the name it is found by', async () => {
    expect((await load()).name).toBe(name)
  })

  test('has an example that calls it', async () => {
    expect((await load()).examples).toContainEqual(expect.stringMatching(call))
  })

  test('is run by a script in test/cli/scripts', () => {
    expect(call.test(scripts), `no script runs svc ${name}`).toBe(true)
  })
})

test('only commands that set an installation up make a data directory', async () => {
  const specs = await Promise.all(commands.map(({ load }) => load()))
  const makers = specs.filter(({ createsDataDirectory }) => createsDataDirectory)
  expect(makers.map(({ name }) => name).sort()).toEqual([
    'app add',
    'app install',
    'config set',
    'init',
    'seed',
    'user add',
    'user import',
  ])
  // For the others the mark would mean nothing.
  expect(makers.filter(({ needs }) => needs !== 'domain')).toEqual([])
})
