import { readFile } from 'node:fs/promises'
import { readablePassword } from '../base/random.ts'
import { flag } from './command.ts'
import { usage } from './exit.ts'
import type { Io } from './io.ts'

/** The ways to give a new password. It is never an argument: everybody on the machine can read those. */
export const passwordFlags = {
  passwordStdin: flag.switch('read the password from standard input'),
  passwordFile: flag.text('read the password from a file', 'FILE'),
  generate: flag.switch('make a password and show it once'),
}

export interface PasswordChoice {
  passwordStdin: boolean
  passwordFile: string | undefined
  generate: boolean
}

/** A password that was made here has to be shown; one that was given must not be. */
export interface NewPassword {
  password: string
  generated: boolean
}

const FLAGS = '--password-stdin, --password-file or --generate'

/** Reads or makes a new password; on a terminal it is asked for twice. Without one a way has to be named: exit 2. */
export async function readNewPassword(io: Io, choice: PasswordChoice, whose: string): Promise<NewPassword> {
  const ways = [choice.passwordStdin, choice.passwordFile !== undefined, choice.generate].filter(Boolean).length
  if (ways > 1) throw usage(`Give one of ${FLAGS}, not several.`)
  if (choice.generate) return { password: readablePassword(), generated: true }
  return { password: await given(io, choice, whose), generated: false }
}

/** A secret of one line from standard input or a file; undefined when neither is named. `what` is its name for errors. */
export async function givenSecret(
  io: Io,
  { stdin, file }: { stdin: boolean; file: string | undefined },
  what: string,
): Promise<string | undefined> {
  if (stdin) return oneLine(await io.stdin(), 'standard input', what)
  return file === undefined ? undefined : oneLine(await readText(file, what), file, what)
}

async function given(io: Io, { passwordStdin, passwordFile }: PasswordChoice, whose: string): Promise<string> {
  const found = await givenSecret(io, { stdin: passwordStdin, file: passwordFile }, 'password')
  if (found !== undefined) return found
  const password = await io.askSecret(`New password for ${whose}:`, FLAGS)
  const again = await io.askSecret('Once more:', FLAGS)
  if (password !== again) throw usage('The two passwords differ.')
  return password
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    throw usage(`The ${what} cannot be read from ${file}: ${(error as Error).message}.`)
  }
}

function oneLine(text: string, source: string, what: string): string {
  if (text === '') throw usage(`There is no ${what} in ${source}.`)
  if (/[\r\n]/.test(text)) throw usage(`There is more than one line in ${source}: it must hold the ${what} alone.`)
  return text
}

/** The line that shows a generated password, empty for one that was given. */
export const passwordLine = ({ password, generated }: NewPassword): string =>
  generated ? `\n\n    ${password}\n\nThis password is not shown again.` : ''
