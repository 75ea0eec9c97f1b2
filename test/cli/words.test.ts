import { describe, expect, test } from 'vitest'
import { nouns } from '../../src/cli/commands.ts'
import { overview } from '../../src/cli/help.ts'
import { parse } from '../../src/cli/program.ts'

const chosen = async (...argv: string[]) => {
  const { spec, args, flags, globals } = (await parse(argv, nouns))!
  return { name: spec.name, args, flags, globals }
}

describe('words behind a noun that is a command itself', () => {
  test.each([
    [['ask', 'list'], 'ask list', {}],
    [['--json', 'ask', 'list'], 'ask list', {}],
    [['ask', '--json', 'list'], 'ask list', {}],
    [['--profile', 'ask', 'ask', 'list'], 'ask list', {}],
    [['ask', 'show', '12'], 'ask show', { id: '12' }],
    [['ask', 'list the files'], 'ask', { question: ['list the files'] }],
    [['ask', 'what', 'to', 'list'], 'ask', { question: ['what', 'to', 'list'] }],
    [['ask', '--', 'list'], 'ask', { question: ['list'] }],
    [['ask', '--', 'undo', 'all', 'of', 'it'], 'ask', { question: ['undo', 'all', 'of', 'it'] }],
    [['ask', '-c', '--', 'list', '-c'], 'ask', { question: ['list', '-c'] }],
    [['ask', '-a', 'log', 'what is it'], 'ask', { question: ['what is it'] }],
    [['ask', '--model', 'list', 'hello'], 'ask', { question: ['hello'] }],
    [['chat', 'general'], 'chat', { room: 'general' }],
    [['chat', '--', 'rooms'], 'chat', { room: 'rooms' }],
    [['chat', 'send', 'general', 'rooms', 'tail'], 'chat send', { room: 'general' }],
  ])('%j is svc %s', async (argv, name, args) => {
    expect(await chosen(...argv)).toMatchObject({ name, args })
  })

  test('flags with values that are names of commands stay what they are', async () => {
    expect((await chosen('ask', '-a', 'log', 'what is it')).flags).toMatchObject({ attach: ['log'] })
    expect((await chosen('ask', '--model', 'list', 'hello')).flags).toMatchObject({ model: 'list' })
  })

  test.each([
    [['ask', 'list', 'the', 'files'], 'svc ask -- list …'],
    [['ask', 'undo', 'the', 'last', 'change'], 'svc ask -- undo …'],
    [['ask', '--model', 'x', 'log', 'me', 'in'], 'svc ask -- log …'],
    [['ask', 'list', '--', 'the', 'files'], 'svc ask -- list …'],
    [['ask', '-c', 'list'], 'svc ask list has no option --continue. Put words that only begin with "list"'],
    [['ask', '--no-stream', 'log'], 'svc ask log has no option --no-stream'],
    [['ask', 'list', '-c'], '-c'],
    [['chat', 'rooms', 'of', 'mine'], "Too many arguments for 'rooms'"],
    [['sycn'], 'There is no command "sycn": did you mean svc sync? See svc --help.'],
    [['xyzzy'], 'There is no command "xyzzy". See svc --help.'],
    [['files', 'lss'], 'There is no command "files lss": did you mean svc files ls? See svc files --help.'],
    [['app', 'nonsense', '--help'], 'There is no command "app nonsense". See svc app --help.'],
    [['app', '--json', '--help', 'lst'], 'There is no command "app lst": did you mean svc app list?'],
    [['user', 'remvoe', 'ada'], 'did you mean svc user remove?'],
    [['sync', '--dryrun'], 'There is no option --dryrun: did you mean --dry-run? See svc sync --help.'],
    [['login', '--user', 'ada'], 'did you mean --username?'],
    [['user', 'list', '--jsn'], 'did you mean --json?'],
    [['user', 'list', '--nosuchthing'], "Unknown option '--nosuchthing'. See svc user --help."],
  ])('%j is refused', async (argv, text) => {
    await expect(chosen(...argv)).rejects.toMatchObject({ code: 2, message: expect.stringContaining(text) as string })
  })
})

test('Every noun that can be counted answers to its plural', () => {
  const uncountable = [
    'serve',
    'init',
    'upgrade',
    '2fa',
    'maintenance',
    'storage',
    'seed',
    'doctor',
    'login',
    'logout',
    'whoami',
  ]
  const others = ['sync', 'rewind', 'search', 'ask', 'trash', 'data', 'completion', 'files', 'versions']
  const missing = Object.entries(nouns).filter(
    ([name, { aliases = [] }]) => ![...uncountable, ...others].includes(name) && !aliases.includes(`${name}s`),
  )
  expect(missing.map(([name]) => name)).toEqual([])
})

test('The overview of all commands fits a terminal of 80 columns', () => {
  expect(
    overview()
      .split('\n')
      .filter((line) => line.length > 79),
  ).toEqual([])
})
