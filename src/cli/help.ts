import { topics } from '../base/help-topics.ts'
import type { Noun } from './command.ts'
import { nouns } from './commands.ts'
import { exitCodes } from './exit.ts'

const GROUPS: readonly Noun['group'][] = ['Server', 'Administration', 'Client', 'Help']

/** `svc --help`: all nouns on one screen, without loading any command. */
export function overview(): string {
  const width = Math.max(...Object.keys(nouns).map((name) => name.length))
  const groups = GROUPS.map((group) => {
    const lines = Object.entries(nouns)
      .filter(([, noun]) => noun.group === group)
      .map(([name, noun]) => row(name, width, `${noun.summary}${verbsOf(noun)}`))
    if (group === 'Help') lines.unshift(row('help', width, 'Help about a command or a topic: svc help TOPIC'))
    return `${group}\n${lines.join('\n')}`
  })
  return `svc: a self-hosted cloud desktop. Server, administrator's tool and client in
one command.

Usage: svc COMMAND [ARGUMENTS] [OPTIONS]

${groups.join('\n\n')}

Topics of svc help
${topicLines()}

Options of every command
  --json            one JSON document on stdout (streams: one object a line)
  --data-dir DIR    data directory of the server (SVC_DATA_DIR)
  --profile NAME    account of this machine to use
  -q, --quiet       print nothing but errors
  --no-color        plain text (also NO_COLOR)
  --debug           show the stack of an error
  -h, --help        help about any command, with examples
  -V, --version     version of svc

Start here
  svc serve                          run the server on this machine
  svc user add ada --role admin      create the first account
  svc login http://127.0.0.1:8420    sign in from a terminal
  svc sync init ~/Cloud              choose the folder to synchronise
  svc sync                           synchronise it
`
}

/** A name and what it means, broken at spaces to the width of the terminal. */
function row(name: string, width: number, text: string): string {
  const room = Math.max(30, (process.stdout.columns || 80) - width - 5)
  const lines = text.match(new RegExp(`.{1,${room}}(?: |$)`, 'g'))!.map((line) => line.trimEnd())
  return `  ${name.padEnd(width)}  ${lines.join(`\n${' '.repeat(width + 4)}`)}`
}

function topicLines(): string {
  const entries = [...Object.entries(topics), ['exit-codes', 'What the exit code of a command means']] as const
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.map(([name, summary]) => row(name, width, summary)).join('\n')
}

function verbsOf({ verbs }: Noun): string {
  const named = Object.keys(verbs).filter(Boolean)
  return named.length > 0 ? ` (${named.join(', ')})` : ''
}

export const exitCodeTable = (): string =>
  Object.entries(exitCodes)
    .map(([code, meaning]) => `${code.padStart(3)}  ${meaning}`)
    .join('\n') + '\n'
